// The values of a Starlark program. Everything that a value refers to belongs to the heap of one run (heap.h), so a
// value is small, is copied freely, and is valid until the run ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::exec_policy {

struct None {};
class List;
struct Tuple;
class Dict;
struct Range;
struct Function;

// Values are never compared by ==, which would compare addresses: operations.h has Starlark's comparison.
using Value =
    std::variant<None, bool, int64_t, std::string_view, List*, const Tuple*, Dict*, const Range*, const Function*>;

struct Tuple {
  std::span<const Value> items;
};

struct Range {
  int64_t start = 0, step = 1, size = 0;

  int64_t at(int64_t index) const { return start + index * step; }
};

// Returns the items of a list or a tuple as they are at this moment, and nothing for other values.
std::span<const Value> ItemsOf(const Value& value);

// Returns the name of the value's type, such as `string` or `NoneType`.
std::string_view TypeName(const Value& value);

// Returns the value as a program would write it, for messages: long texts are cut, and so is what is nested deeply.
std::string Shown(const Value& value);

}  // namespace holdfast::exec_policy
