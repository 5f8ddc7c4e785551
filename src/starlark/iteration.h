// The items of a list, a tuple, a range, or a dict, which has its keys. A string has no items.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/result.h"
#include "starlark/heap.h"
#include "starlark/value.h"

namespace holdfast::starlark {

// Goes through the items one by one, and holds a list or dict so that nothing changes it meanwhile.
class Iteration {
 public:
  static Result<Iteration> Over(const Value& value);

  Iteration(Iteration&& other) noexcept : value_(std::exchange(other.value_, None{})), next_(other.next_) {}
  Iteration& operator=(Iteration&&) = delete;
  ~Iteration();

  std::optional<Value> Next();

 private:
  explicit Iteration(const Value& value);

  Value value_;
  size_t next_ = 0;
};

// Returns all items as they are at this moment.
Result<std::span<const Value>> AllItems(Heap& heap, const Value& value);

}  // namespace holdfast::starlark
