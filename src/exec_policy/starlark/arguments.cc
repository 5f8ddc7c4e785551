#include "exec_policy/starlark/arguments.h"

#include <algorithm>

#include "exec_policy/starlark/description.h"
#include "exec_policy/starlark/mistake.h"

namespace holdfast::exec_policy {

Result<> SortArguments(std::string_view function, std::span<const Value> positional, std::span<const NamedValue> named,
                       std::span<const Parameter> parameters, std::span<std::optional<Value>> places) {
  if (positional.size() > parameters.size()) {
    return Mistake("{}() takes at most {} positional arguments, and gets {}", function, parameters.size(),
                   positional.size());
  }
  std::ranges::copy(positional, places.begin());
  for (const auto& [name, value] : named) {
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    if (found == parameters.end()) return Mistake("{}() has no parameter `{}`", function, name);
    std::optional<Value>& place = places[static_cast<size_t>(found - parameters.begin())];
    if (place) return Mistake("{}() gets the argument `{}` twice", function, name);
    place = value;
  }
  for (size_t index = 0; index < parameters.size(); ++index) {
    if (parameters[index].presence == Presence::kRequired && !places[index]) {
      return Mistake("{}() needs the argument `{}`", function, parameters[index].name);
    }
  }
  return {};
}

Result<Value> OnlyArgument(const NativeCall& call) {
  if (!call.named.empty()) return Mistake("{}() has no parameter `{}`", call.name, call.named[0].first);
  if (call.positional.size() != 1) {
    return Mistake("{}() takes one argument, and gets {}", call.name, call.positional.size());
  }
  return call.positional[0];
}

Result<> NoArguments(const NativeCall& call) {
  if (call.positional.empty() && call.named.empty()) return {};
  return Mistake("{}() takes no arguments", call.name);
}

Result<std::string_view> TextArgument(const NativeCall& call, const Value& value) {
  if (const auto* const text = std::get_if<std::string_view>(&value)) return *text;
  return Mistake("{}() needs a string, not a value of the type {}", call.name, TypeName(value));
}

Result<int64_t> NumberArgument(const NativeCall& call, const Value& value) {
  if (const auto* const number = std::get_if<int64_t>(&value)) return *number;
  return Mistake("{}() needs a number, not a value of the type {}", call.name, TypeName(value));
}

}  // namespace holdfast::exec_policy
