// The functions of a program as values.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "starlark/heap.h"
#include "starlark/host_function.h"
#include "starlark/statements.h"
#include "starlark/value.h"

namespace holdfast::starlark {

// The variables of one call of a function, or of the program itself. A frame lives as long as the run, because
// functions that were defined in it may outlive the call.
struct Frame {
  const Frame* outer = nullptr;
  std::span<std::optional<Value>> slots = {};
};

// A function that the program defines, together with the frame that it was defined in.
struct Closure {
  const FunctionSyntax* syntax;
  const Frame* frame;
  std::span<const std::optional<Value>> defaults;  // one for each parameter
};

using NamedValue = std::pair<std::string_view, Value>;

struct NativeCall {
  Heap& heap;
  std::string_view name;  // of the function, for messages
  Value self;             // of a method
  std::span<const Value> positional;
  std::span<const NamedValue> named;
  // Calls a function of the program, such as a sort key.
  const std::function<Result<Value>(const Value& function, std::span<const Value> arguments)>& call_back;
};
using NativeCode = Result<Value> (*)(const NativeCall& call);

// A function of the language itself: a builtin, or a method with the object it belongs to.
struct Native {
  NativeCode code;
  Value self;
};

struct Function {
  std::string_view name;
  std::variant<Closure, Native, const HostFunction*> body;
};

}  // namespace holdfast::starlark
