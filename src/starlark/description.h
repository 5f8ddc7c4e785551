// Values as texts, and the two ways to put values into a text: the operator `%` and the method `format`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "starlark/function.h"
#include "starlark/heap.h"
#include "starlark/value.h"

namespace holdfast::starlark {

// Returns the name of the value's type, such as `string` or `NoneType`.
std::string_view TypeName(const Value& value);

// Returns the value as a program would write it, for messages: long texts are cut.
std::string Shown(const Value& value);

// Returns the value as a program would write it. `...` stands for what is nested very deeply.
Result<std::string_view> Repr(Heap& heap, const Value& value);

// Returns a string itself, and the Repr of other values.
Result<std::string_view> Str(Heap& heap, const Value& value);

// Replaces %s, %r, %d, %x, %X, %o, %c and %% in the format. The operand is the only argument, or a tuple of arguments.
Result<std::string_view> PercentFormat(Heap& heap, std::string_view format, const Value& operand);

// Replaces {}, {0}, {name} and {!r} in the format, as the method `format` does.
Result<std::string_view> BraceFormat(Heap& heap, std::string_view format, std::span<const Value> positional,
                                     std::span<const NamedValue> named);

}  // namespace holdfast::starlark
