#include "starlark/list.h"

#include "starlark/diagnostic.h"

namespace holdfast::starlark {

Result<> List::CheckChangeable() const {
  if (holders_ > 0) return Mistake("the list cannot be changed while a loop runs over it");
  return {};
}

Result<> List::Reserve(Heap& heap, size_t size) {
  if (size <= storage_.size()) return {};
  TRY(const std::span<Value> larger, heap.NewArray<Value>(std::max({size, 2 * storage_.size(), size_t{4}})));
  std::ranges::copy(items(), larger.begin());
  storage_ = larger;
  return {};
}

Result<> List::Append(Heap& heap, Value value) {
  TRY_VOID(Reserve(heap, size_ + 1));
  storage_[size_++] = value;
  return {};
}

Result<> List::Extend(Heap& heap, std::span<const Value> values) {
  TRY_VOID(heap.Spend(values.size()));
  TRY_VOID(Reserve(heap, size_ + values.size()));
  // The values may be items of this list, whose old storage stays valid.
  std::ranges::copy(values, storage_.subspan(size_).begin());
  size_ += values.size();
  return {};
}

Result<> List::Insert(Heap& heap, size_t index, Value value) {
  TRY_VOID(heap.Spend(size_ - index));
  TRY_VOID(Reserve(heap, size_ + 1));
  const auto place = storage_.begin() + static_cast<std::ptrdiff_t>(index);
  std::move_backward(place, storage_.begin() + static_cast<std::ptrdiff_t>(size_),
                     storage_.begin() + static_cast<std::ptrdiff_t>(size_ + 1));
  *place = value;
  ++size_;
  return {};
}

Result<> List::Erase(Heap& heap, size_t index) {
  TRY_VOID(heap.Spend(size_ - index));
  std::ranges::copy(storage_.subspan(index + 1, size_ - index - 1), storage_.subspan(index).begin());
  --size_;
  return {};
}

std::span<const Value> ItemsOf(const Value& value) {
  if (const auto* const list = std::get_if<List*>(&value)) return (*list)->items();
  if (const auto* const tuple = std::get_if<const Tuple*>(&value)) return (*tuple)->items;
  return {};
}

Result<List*> MakeList(Heap& heap, std::span<const Value> values) {
  TRY(List* const list, heap.New<List>());
  TRY_VOID(list->Extend(heap, values));
  return list;
}

Result<List*> MakeListOf(Heap& heap, std::span<Value> items) { return heap.New<List>(items); }

Result<const Tuple*> MakeTuple(Heap& heap, std::span<const Value> values) {
  TRY(const std::span<const Value> copy, heap.CopyValues(values));
  return heap.New<Tuple>(copy);
}

}  // namespace holdfast::starlark
