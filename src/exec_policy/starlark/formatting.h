// The two ways to put values into a text: the operator `%` and the method `format`.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "exec_policy/starlark/function.h"
#include "exec_policy/starlark/heap.h"
#include "exec_policy/starlark/value.h"

namespace holdfast::exec_policy {

// Replaces %s, %r, %d, %x, %X, %o, %c and %% in the format. The operand is the only argument, or a tuple of arguments.
Result<std::string_view> PercentFormat(Heap& heap, std::string_view format, const Value& operand);

// Replaces {}, {0}, {name} and {!r} in the format, as the method `format` does.
Result<std::string_view> BraceFormat(Heap& heap, std::string_view format, std::span<const Value> positional,
                                     std::span<const NamedValue> named);

}  // namespace holdfast::exec_policy
