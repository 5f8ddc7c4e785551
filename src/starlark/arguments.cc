#include "starlark/arguments.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "starlark/compare.h"
#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/list.h"

namespace holdfast::starlark {
namespace {

// One call of one function.
class Binder {
 public:
  Binder(Heap& heap, const Closure& closure, const CallArguments& arguments, const Frame& frame)
      : heap_(heap), closure_(closure), arguments_(arguments), frame_(frame) {}

  Result<> Run() {
    TRY_VOID(BindPositional());
    TRY_VOID(BindNamed());
    return BindDefaults();
  }

 private:
  std::string_view name() const { return closure_.syntax->name; }
  std::span<const ParameterSyntax> parameters() const { return closure_.syntax->parameters; }
  std::optional<Value>& SlotOf(const ParameterSyntax& parameter) {
    return frame_.slots[static_cast<size_t>(parameter.variable->slot)];
  }
  const ParameterSyntax* Find(ParameterKind kind) const {
    const auto found = std::ranges::find(parameters(), kind, &ParameterSyntax::kind);
    return found == parameters().end() ? nullptr : &*found;
  }

  Result<> BindPositional() {
    std::span<const Value> rest = arguments_.positional;
    for (const ParameterSyntax& parameter : parameters()) {
      if (parameter.kind != ParameterKind::kPlain || rest.empty()) break;
      SlotOf(parameter) = rest[0];
      rest = rest.subspan(1);
    }
    if (const ParameterSyntax* const all = Find(ParameterKind::kStar)) {
      TRY(SlotOf(*all), MakeTuple(heap_, rest));
    } else if (!rest.empty()) {
      return Mistake("{}() gets {} positional arguments too many", name(), rest.size());
    }
    return {};
  }

  Result<> BindNamed() {
    Dict* others = nullptr;
    if (const ParameterSyntax* const all = Find(ParameterKind::kDoubleStar)) {
      TRY(others, heap_.New<Dict>());
      SlotOf(*all) = others;
    }
    for (const auto& [argument, value] : arguments_.named) {
      TRY_VOID(heap_.Spend(1 + parameters().size() / 16));
      const auto found = std::ranges::find_if(parameters(), [argument](const ParameterSyntax& parameter) {
        return (parameter.kind == ParameterKind::kPlain || parameter.kind == ParameterKind::kNamedOnly) &&
               parameter.variable->name == argument;
      });
      if (found == parameters().end()) {
        if (others == nullptr) return Mistake("{}() has no parameter `{}`", name(), argument);
        TRY_VOID(Store(heap_, *others, argument, value));
        continue;
      }
      if (SlotOf(*found)) return Mistake("{}() gets the argument `{}` twice", name(), argument);
      SlotOf(*found) = value;
    }
    return {};
  }

  Result<> BindDefaults() {
    for (size_t index = 0; index < parameters().size(); ++index) {
      std::optional<Value>& slot = SlotOf(parameters()[index]);
      if (slot) continue;
      slot = closure_.defaults[index];
      if (!slot) return Mistake("{}() needs the argument `{}`", name(), parameters()[index].variable->name);
    }
    return {};
  }

  Heap& heap_;
  const Closure& closure_;
  const CallArguments& arguments_;
  const Frame& frame_;
};

}  // namespace

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

Result<> BindParameters(Heap& heap, const Closure& closure, const CallArguments& arguments, const Frame& frame) {
  return Binder(heap, closure, arguments, frame).Run();
}

}  // namespace holdfast::starlark
