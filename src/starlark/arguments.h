// The arguments of a call, sorted to the parameters that they belong to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "starlark/function.h"
#include "starlark/heap.h"
#include "starlark/value.h"

namespace holdfast::starlark {

// Sorts the arguments of a call of `function`, for a message, into one place for each parameter.
Result<> SortArguments(std::string_view function, std::span<const Value> positional, std::span<const NamedValue> named,
                       std::span<const Parameter> parameters, std::span<std::optional<Value>> places);

// The arguments of a function of the language itself. The parameters behind the first `required` ones are optional.
template <size_t Count>
Result<std::array<std::optional<Value>, Count>> Arguments(const NativeCall& call, size_t required,
                                                          const std::array<std::string_view, Count>& names) {
  std::array<Parameter, Count> parameters;
  for (size_t index = 0; index < Count; ++index) {
    parameters[index] = {names[index], index < required ? Presence::kRequired : Presence::kOptional};
  }
  std::array<std::optional<Value>, Count> places;
  TRY_VOID(SortArguments(call.name, call.positional, call.named, parameters, places));
  return places;
}

// The only argument of a function that has one.
Result<Value> OnlyArgument(const NativeCall& call);
// Fails if the call has arguments.
Result<> NoArguments(const NativeCall& call);

// Returns the value if it has the type, and else a mistake that names the function.
Result<std::string_view> TextArgument(const NativeCall& call, const Value& value);
Result<int64_t> NumberArgument(const NativeCall& call, const Value& value);

// The arguments of a call, and the parameters of a function of the program that they become.
struct CallArguments {
  std::vector<Value> positional;
  std::vector<NamedValue> named;
};

// Sets the variables of the parameters in the frame of a call.
Result<> BindParameters(Heap& heap, const Closure& closure, const CallArguments& arguments, const Frame& frame);

}  // namespace holdfast::starlark
