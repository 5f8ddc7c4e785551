// The dict of a Starlark program: a hash table that keeps the order in which keys were added. It knows nothing about
// the equality of values; compare.h looks up keys in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "starlark/heap.h"
#include "starlark/value.h"

namespace holdfast::starlark {

class Dict {
 public:
  struct Entry {
    Value key, value;
    uint64_t hash = 0;
    bool live = false;
  };

  size_t size() const { return size_; }
  // All entries in the order in which they were added. Removed ones are in it too, and are not live.
  std::span<const Entry> entries() const { return entries_.first(used_); }

  void Hold() { ++holders_; }
  void Release() { --holders_; }
  // Fails while a loop holds the dict. Every change of a dict begins with this check.
  Result<> CheckChangeable() const;

  // Returns the entry with the hash for which `same(key)`, a Result<bool>, holds; or null.
  Result<Entry*> Find(Heap& heap, uint64_t hash, const auto& same) const {
    if (table_.empty()) return nullptr;
    for (size_t place = hash & (table_.size() - 1);; place = (place + 1) & (table_.size() - 1)) {
      TRY_VOID(heap.Spend(1));
      if (table_[place] == kFree) return nullptr;
      Entry& entry = entries_[table_[place]];
      if (!entry.live || entry.hash != hash) continue;
      TRY(const bool found, same(entry.key));
      if (found) return &entry;
    }
  }

  // Adds a key that is not in the dict.
  Result<> Add(Heap& heap, uint64_t hash, Value key, Value value);
  void Remove(Entry& entry);
  void Clear();

 private:
  static constexpr uint32_t kFree = UINT32_MAX;

  Result<> Grow(Heap& heap);
  void Place(uint64_t hash, uint32_t index);

  std::span<Entry> entries_ = {};
  std::span<uint32_t> table_ = {};  // indexes of entries; its size is a power of two, and at least half of it is free
  size_t used_ = 0, size_ = 0;
  int holders_ = 0;
};

}  // namespace holdfast::starlark
