#include "exec_policy/starlark/ordering.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "exec_policy/starlark/arguments.h"
#include "exec_policy/starlark/compare.h"
#include "exec_policy/starlark/iteration.h"
#include "exec_policy/starlark/list.h"
#include "exec_policy/starlark/mistake.h"

namespace holdfast::exec_policy {
namespace {

// Returns what items are compared by: the results of the function `key`, or the items themselves.
Result<std::span<const Value>> KeysOf(const NativeCall& call, std::span<const Value> items, const Value& key) {
  if (std::holds_alternative<None>(key)) return items;
  TRY(const std::span<Value> keys, call.heap.NewArray<Value>(items.size()));
  for (size_t index = 0; index < items.size(); ++index) {
    TRY(keys[index], call.call_back(key, items.subspan(index, 1)));
  }
  return keys;
}

// Returns the first of the items that come last (or first) in the order. The items are the arguments, or those of the
// only argument.
Result<Value> Extreme(const NativeCall& call, std::strong_ordering wanted) {
  if (call.named.size() > 1 || (!call.named.empty() && call.named[0].first != "key")) {
    return Mistake("{}() has only the named argument `key`", call.name);
  }
  std::span<const Value> items = call.positional;
  if (items.size() == 1) {
    TRY(items, AllItems(call.heap, items[0]));
  }
  if (items.empty()) return Mistake("{}() needs at least one item", call.name);
  // The key function could change the list.
  TRY(items, call.heap.CopyValues(items));
  TRY(const auto keys, KeysOf(call, items, call.named.empty() ? None{} : call.named[0].second));
  size_t best = 0;
  for (size_t index = 1; index < items.size(); ++index) {
    TRY(const auto order, Order(call.heap, keys[index], keys[best]));
    if (order == wanted) best = index;
  }
  return items[best];
}

// Merges two sorted runs that lie side by side. An item of the second run goes first only if the order of the first
// one's item to it is `wrong`, so equal items keep their order.
Result<> Merge(Heap& heap, std::span<const Value> keys, std::span<const size_t> left, std::span<const size_t> right,
               std::strong_ordering wrong, std::span<size_t> merged) {
  for (size_t& place : merged) {
    bool takes_left = right.empty();
    if (!left.empty() && !right.empty()) {
      TRY(const auto order, Order(heap, keys[left[0]], keys[right[0]]));
      takes_left = order != wrong;
    }
    std::span<const size_t>& source = takes_left ? left : right;
    place = source[0];
    source = source.subspan(1);
  }
  return {};
}

// Returns the indexes of the keys in their order. The algorithms of the standard library cannot be used, because a
// comparison can fail.
Result<std::vector<size_t>> SortedIndexes(Heap& heap, std::span<const Value> keys, std::strong_ordering wrong) {
  std::vector<size_t> order(keys.size()), merged(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t width = 1; width < order.size(); width *= 2) {
    for (size_t begin = 0; begin < order.size(); begin += 2 * width) {
      const auto both = std::span(order).subspan(begin, std::min(2 * width, order.size() - begin));
      const size_t middle = std::min(width, both.size());
      TRY_VOID(Merge(heap, keys, both.first(middle), both.subspan(middle), wrong,
                     std::span(merged).subspan(begin, both.size())));
    }
    order.swap(merged);
  }
  return order;
}

}  // namespace

Result<Value> Max(const NativeCall& call) { return Extreme(call, std::strong_ordering::greater); }
Result<Value> Min(const NativeCall& call) { return Extreme(call, std::strong_ordering::less); }

Result<Value> Sorted(const NativeCall& call) {
  TRY(const auto arguments, Arguments<3>(call, 1, {"iterable", "key", "reverse"}));
  TRY(const auto all, AllItems(call.heap, *arguments[0]));
  // The key function could change the list.
  TRY(const auto items, call.heap.CopyValues(all));
  TRY(const auto keys, KeysOf(call, items, arguments[1].value_or(None{})));
  const bool is_reversed = Truth(arguments[2].value_or(false));
  TRY(const auto order,
      SortedIndexes(call.heap, keys, is_reversed ? std::strong_ordering::less : std::strong_ordering::greater));
  TRY(const std::span<Value> sorted, call.heap.NewArray<Value>(items.size()));
  std::ranges::transform(order, sorted.begin(), [items](size_t index) { return items[index]; });
  return MakeList(call.heap, sorted);
}

}  // namespace holdfast::exec_policy
