// A host function is a function that the program around the interpreter offers to Starlark programs, such as
// prefix_rule. It returns None.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "starlark/budget.h"
#include "starlark/diagnostic.h"
#include "starlark/value.h"

namespace holdfast::starlark {

enum class Presence { kRequired, kOptional };

struct Parameter {
  std::string_view name;
  Presence presence = Presence::kRequired;
};

// One call of a host function. The arguments are those of the parameters, in their order, whether the call named them
// or not; an optional argument that the call does not give is absent. They are valid until the host function returns.
struct HostCall {
  std::span<const std::optional<Value>> arguments;
  Position position;  // of the call's name in the text
  Budget& budget;     // the host function charges its work to it, and the memory of what it keeps
};

struct HostFunction {
  std::string_view name;
  std::vector<Parameter> parameters;
  // The message of an error becomes a diagnostic at the position of the call; the kind of the error does not matter.
  std::function<Result<>(const HostCall&)> call;
};

}  // namespace holdfast::starlark
