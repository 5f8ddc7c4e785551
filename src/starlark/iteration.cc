#include "starlark/iteration.h"

#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/dict.h"
#include "starlark/list.h"

namespace holdfast::starlark {
namespace {

// Returns the number of items of a value that has items.
std::optional<size_t> CountOf(const Value& value) {
  if (const auto* const list = std::get_if<List*>(&value)) return (*list)->size();
  if (const auto* const tuple = std::get_if<const Tuple*>(&value)) return (*tuple)->items.size();
  if (const auto* const dict = std::get_if<Dict*>(&value)) return (*dict)->size();
  if (const auto* const range = std::get_if<const Range*>(&value)) return static_cast<size_t>((*range)->size);
  return std::nullopt;
}

}  // namespace

Result<Iteration> Iteration::Over(const Value& value) {
  if (!CountOf(value)) return Mistake("a value of the type {} has no items to go through", TypeName(value));
  return Iteration(value);
}

Iteration::Iteration(const Value& value) : value_(value) {
  if (const auto* const list = std::get_if<List*>(&value_)) (*list)->Hold();
  if (const auto* const dict = std::get_if<Dict*>(&value_)) (*dict)->Hold();
}

Iteration::~Iteration() {
  if (const auto* const list = std::get_if<List*>(&value_)) (*list)->Release();
  if (const auto* const dict = std::get_if<Dict*>(&value_)) (*dict)->Release();
}

std::optional<Value> Iteration::Next() {
  if (const auto* const range = std::get_if<const Range*>(&value_)) {
    if (next_ == static_cast<size_t>((*range)->size)) return std::nullopt;
    return (*range)->at(static_cast<int64_t>(next_++));
  }
  if (const auto* const dict = std::get_if<Dict*>(&value_)) {
    const auto entries = (*dict)->entries();
    while (next_ < entries.size() && !entries[next_].live) ++next_;
    if (next_ == entries.size()) return std::nullopt;
    return entries[next_++].key;
  }
  const auto items = ItemsOf(value_);
  if (next_ == items.size()) return std::nullopt;
  return items[next_++];
}

Result<std::span<const Value>> AllItems(Heap& heap, const Value& value) {
  TRY(Iteration iteration, Iteration::Over(value));
  const size_t count = *CountOf(value);
  TRY_VOID(heap.Spend(count));
  if (std::holds_alternative<List*>(value) || std::holds_alternative<const Tuple*>(value)) return ItemsOf(value);
  TRY(const std::span<Value> items, heap.NewArray<Value>(count));
  for (Value& item : items) item = *iteration.Next();
  return items;
}

}  // namespace holdfast::starlark
