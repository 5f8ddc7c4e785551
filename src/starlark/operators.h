// The operators of the language, but for `and`, `or` and `not`, which do not evaluate all operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "starlark/heap.h"
#include "starlark/syntax.h"
#include "starlark/value.h"

namespace holdfast::starlark {

Result<Value> ApplyBinary(Heap& heap, Operator op, const Value& left, const Value& right);
Result<Value> ApplyUnary(Heap& heap, Operator op, const Value& operand);

// Elements and slices of strings, lists, tuples, ranges and dicts. Indexes count the characters of a string, and
// negative ones count from the end.

// The values between the colons of a slice, each of which may be missing or None.
struct SliceBounds {
  Value begin, end, step;
};

Result<Value> ElementOf(Heap& heap, const Value& object, const Value& index);
Result<> SetElement(Heap& heap, const Value& object, const Value& index, const Value& value);
Result<Value> SliceOf(Heap& heap, const Value& object, const SliceBounds& bounds);

// Returns the offsets of the bytes that a part of a string, as methods such as `find` take it, begins and ends with.
struct TextPart {
  size_t begin, end;
};
Result<TextPart> PartOfText(Heap& heap, std::string_view text, const Value& begin, const Value& end);

}  // namespace holdfast::starlark
