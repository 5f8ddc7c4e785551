#include "starlark/dict.h"

#include <algorithm>

#include "starlark/diagnostic.h"

namespace holdfast::starlark {

Result<> Dict::CheckChangeable() const {
  if (holders_ > 0) return Mistake("the dict cannot be changed while a loop runs over it");
  return {};
}

Result<> Dict::Add(Heap& heap, uint64_t hash, Value key, Value value) {
  if (used_ == entries_.size()) TRY_VOID(Grow(heap));
  entries_[used_] = {.key = key, .value = value, .hash = hash, .live = true};
  Place(hash, static_cast<uint32_t>(used_));
  ++used_;
  ++size_;
  return {};
}

void Dict::Remove(Entry& entry) {
  // The place in the table stays taken, so that searches go on past it.
  entry.live = false;
  --size_;
}

void Dict::Clear() {
  std::ranges::fill(table_, kFree);
  used_ = size_ = 0;
}

// Makes room for twice the live entries, and leaves the removed ones behind.
Result<> Dict::Grow(Heap& heap) {
  size_t capacity = 8;
  while (capacity < 2 * size_) capacity *= 2;
  TRY_VOID(heap.Spend(used_));
  TRY(const std::span<Entry> larger, heap.NewArray<Entry>(capacity));
  TRY(table_, heap.NewArray<uint32_t>(2 * capacity));
  std::ranges::fill(table_, kFree);
  const auto kept = std::ranges::copy_if(entries(), larger.begin(), &Entry::live);
  entries_ = larger;
  used_ = static_cast<size_t>(kept.out - larger.begin());
  for (size_t index = 0; index < used_; ++index) Place(entries_[index].hash, static_cast<uint32_t>(index));
  return {};
}

void Dict::Place(uint64_t hash, uint32_t index) {
  size_t place = hash & (table_.size() - 1);
  while (table_[place] != kFree) place = (place + 1) & (table_.size() - 1);
  table_[place] = index;
}

}  // namespace holdfast::starlark
