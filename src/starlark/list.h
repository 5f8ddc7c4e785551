// The list of a Starlark program. Loops over a list hold it: a list that is held cannot be changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "starlark/heap.h"
#include "starlark/value.h"

namespace holdfast::starlark {

class List {
 public:
  List() = default;
  explicit List(std::span<Value> items) : storage_(items), size_(items.size()) {}

  std::span<const Value> items() const { return std::span(storage_).first(size_); }
  size_t size() const { return size_; }

  void Hold() { ++holders_; }
  void Release() { --holders_; }
  // Fails while a loop holds the list. Every change of a list begins with this check.
  Result<> CheckChangeable() const;

  // The functions below change the list without that check, and need an index that is in the list.
  Result<> Append(Heap& heap, Value value);
  Result<> Extend(Heap& heap, std::span<const Value> values);
  Result<> Insert(Heap& heap, size_t index, Value value);
  Result<> Erase(Heap& heap, size_t index);
  void Set(size_t index, Value value) { storage_[index] = value; }
  void Clear() { size_ = 0; }

 private:
  Result<> Reserve(Heap& heap, size_t size);

  std::span<Value> storage_ = {};
  size_t size_ = 0;
  int holders_ = 0;
};

// Returns the items of a list or a tuple as they are at this moment, and nothing for other values.
std::span<const Value> ItemsOf(const Value& value);

// Makes a list of copies of the values.
Result<List*> MakeList(Heap& heap, std::span<const Value> values);
// Makes a list that takes over the array.
Result<List*> MakeListOf(Heap& heap, std::span<Value> items);
Result<const Tuple*> MakeTuple(Heap& heap, std::span<const Value> values);

}  // namespace holdfast::starlark
