// The heap of one run owns everything that values refer to, and charges it to a budget. It frees nothing before
// the run ends: a program of rules is short, lists may contain themselves, and a deeply nested value needs no deep
// destructor. The limit of memory therefore is one of all memory that was ever allocated.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "starlark/budget.h"
#include "starlark/value.h"

namespace holdfast::starlark {

class Heap {
 public:
  // `budget` outlives the heap.
  explicit Heap(Budget& budget) : budget_(budget) {}

  Budget& budget() { return budget_; }

  // Counts steps before they are done.
  Result<> Spend(size_t steps) { return budget_.Spend(steps); }
  // Counts the work of looking at every byte of a text.
  Result<> SpendOnText(size_t bytes) { return Spend(bytes / 16); }

  // Counts the work of searching for a short text in a long one, which may begin to match everywhere.
  Result<> SpendOnSearch(size_t bytes, size_t wanted_bytes);

  // Fails if the memory that is left has no room for so many bytes.
  Result<> CheckRoom(size_t bytes) const {
    if (bytes > budget_.bytes_left()) return Budget::OutOfMemory();
    return {};
  }

  // Makes an object that needs no destructor.
  template <typename T, typename... Arguments>
  Result<T*> New(Arguments&&... arguments) {
    static_assert(std::is_trivially_destructible_v<T>);
    TRY(void* const memory, Allocate(sizeof(T), alignof(T)));
    return ::new (memory) T{std::forward<Arguments>(arguments)...};
  }

  // Makes `count` objects with their initial value.
  template <typename T>
  Result<std::span<T>> NewArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count > budget_.bytes_left() / sizeof(T)) return Budget::OutOfMemory();
    TRY_VOID(Spend(count * sizeof(T) / 64));
    TRY(void* const memory, Allocate(count * sizeof(T), alignof(T)));
    T* const first = static_cast<T*>(memory);
    std::uninitialized_value_construct_n(first, count);
    return std::span(first, count);
  }

  Result<std::string_view> CopyText(std::string_view text);
  Result<std::span<const Value>> CopyValues(std::span<const Value> values);

 private:
  Result<void*> Allocate(size_t bytes, size_t alignment);

  Budget& budget_;
  std::pmr::monotonic_buffer_resource memory_;
};

// A text of unknown length that a run builds. Its bytes count when they are added, so that the limit of memory holds
// before the text is complete.
class TextBuilder {
 public:
  explicit TextBuilder(Heap& heap) : heap_(heap) {}

  Result<> Add(std::string_view text) {
    TRY_VOID(heap_.CheckRoom(text_.size() + text.size()));
    TRY_VOID(heap_.SpendOnText(text.size()));
    text_.append(text);
    return {};
  }
  Result<std::string_view> Finish() const { return heap_.CopyText(text_); }

 private:
  Heap& heap_;
  std::string text_;
};

}  // namespace holdfast::starlark
