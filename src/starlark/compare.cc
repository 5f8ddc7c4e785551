#include "starlark/compare.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/list.h"

namespace holdfast::starlark {
namespace {

// The depth to which nested values are compared. A list can contain itself, so the depth of a value has no limit.
constexpr int kMaxDepth = 100;

std::unexpected<Error> TooDeep() { return Mistake("the values are nested too deeply to be compared"); }

Result<bool> EqualTo(Heap& heap, const Value& left, const Value& right, int depth);

Result<bool> EqualItems(Heap& heap, std::span<const Value> left, std::span<const Value> right, int depth) {
  if (left.size() != right.size()) return false;
  for (size_t index = 0; index < left.size(); ++index) {
    TRY(const bool same, EqualTo(heap, left[index], right[index], depth));
    if (!same) return false;
  }
  return true;
}

Result<bool> EqualDicts(Heap& heap, const Dict& left, const Dict& right, int depth) {
  if (left.size() != right.size()) return false;
  for (const Dict::Entry& entry : left.entries()) {
    if (!entry.live) continue;
    TRY(const Dict::Entry* const other, Lookup(heap, right, entry.key));
    if (other == nullptr) return false;
    TRY(const bool same, EqualTo(heap, entry.value, other->value, depth));
    if (!same) return false;
  }
  return true;
}

bool EqualRanges(const Range& left, const Range& right) {
  if (left.size != right.size) return false;
  return left.size == 0 || (left.start == right.start && (left.size == 1 || left.step == right.step));
}

Result<bool> EqualTo(Heap& heap, const Value& left, const Value& right, int depth) {
  if (left.index() != right.index()) return false;
  if (depth == 0) return TooDeep();
  TRY_VOID(heap.Spend(1));
  return std::visit(
      [&]<typename T>(const T& a) -> Result<bool> {
        const T& b = std::get<T>(right);
        if constexpr (std::is_same_v<T, None>) {
          return true;
        } else if constexpr (std::is_same_v<T, std::string_view>) {
          TRY_VOID(heap.SpendOnText(std::min(a.size(), b.size())));
          return a == b;
        } else if constexpr (std::is_same_v<T, List*> || std::is_same_v<T, const Tuple*>) {
          return EqualItems(heap, ItemsOf(left), ItemsOf(right), depth - 1);
        } else if constexpr (std::is_same_v<T, Dict*>) {
          return EqualDicts(heap, *a, *b, depth - 1);
        } else if constexpr (std::is_same_v<T, const Range*>) {
          return EqualRanges(*a, *b);
        } else {
          return a == b;
        }
      },
      left);
}

Result<std::strong_ordering> OrderOf(Heap& heap, const Value& left, const Value& right, int depth);

Result<std::strong_ordering> OrderItems(Heap& heap, std::span<const Value> left, std::span<const Value> right,
                                        int depth) {
  for (size_t index = 0; index < std::min(left.size(), right.size()); ++index) {
    TRY(const bool same, EqualTo(heap, left[index], right[index], depth));
    if (!same) return OrderOf(heap, left[index], right[index], depth);
  }
  return left.size() <=> right.size();
}

Result<std::strong_ordering> OrderOf(Heap& heap, const Value& left, const Value& right, int depth) {
  if (depth == 0) return TooDeep();
  TRY_VOID(heap.Spend(1));
  if (left.index() == right.index()) {
    if (const auto* const number = std::get_if<int64_t>(&left)) return *number <=> std::get<int64_t>(right);
    if (const auto* const flag = std::get_if<bool>(&left)) return *flag <=> std::get<bool>(right);
    if (const auto* const text = std::get_if<std::string_view>(&left)) {
      TRY_VOID(heap.SpendOnText(text->size()));
      return *text <=> std::get<std::string_view>(right);
    }
    if (std::holds_alternative<List*>(left) || std::holds_alternative<const Tuple*>(left)) {
      return OrderItems(heap, ItemsOf(left), ItemsOf(right), depth - 1);
    }
  }
  return Mistake("values of the types {} and {} have no order", TypeName(left), TypeName(right));
}

constexpr uint64_t Mixed(uint64_t hash) {
  hash *= 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

Result<uint64_t> HashOf(Heap& heap, const Value& value, int depth) {
  if (depth == 0) return TooDeep();
  TRY_VOID(heap.Spend(1));
  if (const auto* const text = std::get_if<std::string_view>(&value)) {
    TRY_VOID(heap.SpendOnText(text->size()));
    return Mixed(std::hash<std::string_view>{}(*text));
  }
  if (const auto* const number = std::get_if<int64_t>(&value)) return Mixed(static_cast<uint64_t>(*number) + 3);
  if (const auto* const flag = std::get_if<bool>(&value)) return Mixed(*flag ? 2 : 1);
  if (std::holds_alternative<None>(value)) return Mixed(0);
  if (const auto* const function = std::get_if<const Function*>(&value)) {
    return Mixed(reinterpret_cast<uintptr_t>(*function));
  }
  if (const auto* const tuple = std::get_if<const Tuple*>(&value)) {
    uint64_t hash = (*tuple)->items.size();
    for (const Value& item : (*tuple)->items) {
      TRY(const uint64_t next, HashOf(heap, item, depth - 1));
      hash = Mixed(hash + next);
    }
    return hash;
  }
  return Mistake("a value of the type {} cannot be the key of a dict", TypeName(value));
}

}  // namespace

bool Truth(const Value& value) {
  return std::visit(
      []<typename T>(const T& object) {
        if constexpr (std::is_same_v<T, None>) {
          return false;
        } else if constexpr (std::is_same_v<T, bool>) {
          return object;
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return object != 0;
        } else if constexpr (std::is_same_v<T, std::string_view>) {
          return !object.empty();
        } else if constexpr (std::is_same_v<T, const Tuple*>) {
          return !object->items.empty();
        } else if constexpr (std::is_same_v<T, const Function*>) {
          return true;
        } else if constexpr (std::is_same_v<T, const Range*>) {
          return object->size != 0;
        } else {
          return object->size() != 0;
        }
      },
      value);
}

Result<bool> Equal(Heap& heap, const Value& left, const Value& right) { return EqualTo(heap, left, right, kMaxDepth); }

Result<std::strong_ordering> Order(Heap& heap, const Value& left, const Value& right) {
  return OrderOf(heap, left, right, kMaxDepth);
}

Result<Dict::Entry*> Lookup(Heap& heap, const Dict& dict, const Value& key) {
  TRY(const uint64_t hash, HashOf(heap, key, kMaxDepth));
  return dict.Find(heap, hash, [&](const Value& other) { return Equal(heap, key, other); });
}

Result<> Store(Heap& heap, Dict& dict, const Value& key, const Value& value) {
  TRY(const uint64_t hash, HashOf(heap, key, kMaxDepth));
  TRY(Dict::Entry* const entry, dict.Find(heap, hash, [&](const Value& other) { return Equal(heap, key, other); }));
  TRY_VOID(dict.CheckChangeable());
  if (entry == nullptr) return dict.Add(heap, hash, key, value);
  entry->value = value;
  return {};
}

}  // namespace holdfast::starlark
