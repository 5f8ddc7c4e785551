// The values of a Starlark program. Everything that a value refers to belongs to the heap of one run (heap.h), so a
// value is small, is copied freely, and is valid until the run ends.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace holdfast::starlark {

struct None {};
class List;
struct Tuple;
class Dict;
struct Range;
struct Function;

// Values are never compared by ==, which would compare addresses: compare.h has Starlark's comparison.
using Value =
    std::variant<None, bool, int64_t, std::string_view, List*, const Tuple*, Dict*, const Range*, const Function*>;

struct Tuple {
  std::span<const Value> items;
};

struct Range {
  int64_t start = 0, stop = 0, step = 1, size = 0;

  // The product may need more than 63 bits although the sum does not.
  int64_t at(int64_t index) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start) +
                                static_cast<uint64_t>(index) * static_cast<uint64_t>(step));
  }
  bool Contains(int64_t number) const;
};

// Makes a range, whose step is not zero and whose size fits into 63 bits.
Range MakeRange(int64_t start, int64_t stop, int64_t step);

}  // namespace holdfast::starlark
