// The functions that every program can use.
#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "starlark/arguments.h"
#include "starlark/characters.h"
#include "starlark/compare.h"
#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/iteration.h"
#include "starlark/list.h"
#include "starlark/native.h"

namespace holdfast::starlark {
namespace {

Result<Value> Abs(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  TRY(const int64_t number, NumberArgument(call, value));
  if (number == INT64_MIN) return Mistake("the number does not fit into 64 bits");
  return number < 0 ? -number : number;
}

// Returns whether there is an item whose truth is `wanted`.
Result<bool> HasItem(const NativeCall& call, bool wanted) {
  TRY(const Value value, OnlyArgument(call));
  TRY(const auto items, AllItems(call.heap, value));
  return std::ranges::find(items, wanted, Truth) != items.end();
}

Result<Value> All(const NativeCall& call) {
  TRY(const bool has_false, HasItem(call, false));
  return !has_false;
}

Result<Value> Any(const NativeCall& call) { return HasItem(call, true); }

Result<Value> Bool(const NativeCall& call) {
  TRY(const auto arguments, Arguments<1>(call, 0, {"x"}));
  return Truth(arguments[0].value_or(false));
}

Result<Value> Chr(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  TRY(const int64_t number, NumberArgument(call, value));
  std::string text;
  if (number < 0 || number > 0x10ffff || !AppendCharacter(text, static_cast<uint32_t>(number))) {
    return Mistake("there is no character with the number {}", number);
  }
  return call.heap.CopyText(text);
}

Result<Value> MakeDict(const NativeCall& call) {
  TRY(Dict* const dict, call.heap.New<Dict>());
  TRY_VOID(UpdateDict(call, *dict));
  return dict;
}

Result<Value> Enumerate(const NativeCall& call) {
  TRY(const auto arguments, Arguments<2>(call, 1, {"iterable", "start"}));
  TRY(int64_t number, NumberArgument(call, arguments[1].value_or(int64_t{0})));
  TRY(const auto items, AllItems(call.heap, *arguments[0]));
  TRY(List* const list, call.heap.New<List>());
  for (const Value& item : items) {
    TRY(const Tuple* const pair, MakeTuple(call.heap, std::array{Value(number), item}));
    TRY_VOID(list->Append(call.heap, pair));
    if (__builtin_add_overflow(number, 1, &number)) return Mistake("the number does not fit into 64 bits");
  }
  return list;
}

Result<Value> Fail(const NativeCall& call) {
  std::string message;
  for (const Value& value : call.positional) {
    TRY(const std::string_view text, Str(call.heap, value));
    message.append(message.empty() ? "" : " ").append(text);
  }
  return Mistake("fail: {}", message);
}

Result<Value> HasAttribute(const NativeCall& call) {
  TRY(const auto arguments, Arguments<2>(call, 2, {"x", "name"}));
  TRY(const std::string_view name, TextArgument(call, *arguments[1]));
  return FindMethod(*arguments[0], name) != nullptr;
}

// Parses a number with an optional sign and the prefix of its base.
std::optional<int64_t> ParseInt(std::string_view text, int base) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  for (const auto& [letter, value] : {std::pair{'x', 16}, std::pair{'o', 8}, std::pair{'b', 2}}) {
    if (text.size() < 2 || text[0] != '0' || (text[1] | 0x20) != letter || (base != 0 && base != value)) continue;
    base = value;
    text.remove_prefix(2);
    break;
  }
  if (text.empty() || text[0] == '-') return std::nullopt;
  return ParseNumber<int64_t>((is_negative ? "-" : "") + std::string(text), base == 0 ? 10 : base);
}

Result<Value> Int(const NativeCall& call) {
  TRY(const auto arguments, Arguments<2>(call, 0, {"x", "base"}));
  const Value value = arguments[0].value_or(int64_t{0});
  if (const auto* const text = std::get_if<std::string_view>(&value)) {
    TRY(const int64_t base, NumberArgument(call, arguments[1].value_or(int64_t{10})));
    if (base != 0 && (base < 2 || base > 36)) return Mistake("the base of a number is 0 or from 2 to 36, not {}", base);
    const auto number = ParseInt(*text, static_cast<int>(base));
    if (!number) return Mistake("{} is no whole number of 64 bits in base {}", Shown(value), base);
    return *number;
  }
  if (arguments[1]) return Mistake("int() takes a base only for a string");
  if (const auto* const flag = std::get_if<bool>(&value)) return int64_t{*flag ? 1 : 0};
  return NumberArgument(call, value);
}

Result<Value> Len(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  if (const auto* const text = std::get_if<std::string_view>(&value)) {
    TRY_VOID(call.heap.SpendOnText(text->size()));
    return static_cast<int64_t>(CountCharacters(*text));
  }
  if (const auto* const dict = std::get_if<Dict*>(&value)) return static_cast<int64_t>((*dict)->size());
  if (const auto* const range = std::get_if<const Range*>(&value)) return (*range)->size;
  if (std::holds_alternative<List*>(value) || std::holds_alternative<const Tuple*>(value)) {
    return static_cast<int64_t>(ItemsOf(value).size());
  }
  return Mistake("a value of the type {} has no length", TypeName(value));
}

// Returns the items of an optional argument.
Result<std::span<const Value>> OptionalItems(const NativeCall& call) {
  TRY(const auto arguments, Arguments<1>(call, 0, {"iterable"}));
  if (!arguments[0]) return std::span<const Value>();
  return AllItems(call.heap, *arguments[0]);
}

Result<Value> ListFunction(const NativeCall& call) {
  TRY(const auto items, OptionalItems(call));
  return MakeList(call.heap, items);
}

Result<Value> TupleFunction(const NativeCall& call) {
  TRY(const auto items, OptionalItems(call));
  return MakeTuple(call.heap, items);
}

Result<Value> Ord(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  TRY(const std::string_view text, TextArgument(call, value));
  TRY_VOID(call.heap.SpendOnText(text.size()));
  if (CountCharacters(text) != 1) return Mistake("ord() needs a string of one character");
  return int64_t{FirstCharacter(text)};
}

Result<Value> RangeFunction(const NativeCall& call) {
  TRY(const auto arguments, Arguments<3>(call, 1, {"start", "stop", "step"}));
  TRY(int64_t start, NumberArgument(call, *arguments[0]));
  TRY(int64_t stop, NumberArgument(call, arguments[1].value_or(start)));
  if (!arguments[1]) start = 0;
  TRY(const int64_t step, NumberArgument(call, arguments[2].value_or(int64_t{1})));
  if (step == 0) return Mistake("the step of a range cannot be zero");
  const Range range = MakeRange(start, stop, step);
  if (range.size < 0) return Mistake("the range has too many numbers");
  return call.heap.New<const Range>(range);
}

Result<Value> ReprFunction(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  return Repr(call.heap, value);
}

Result<Value> Reversed(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  TRY(const auto items, AllItems(call.heap, value));
  TRY(const auto copy, call.heap.NewArray<Value>(items.size()));
  std::ranges::reverse_copy(items, copy.begin());
  return MakeList(call.heap, copy);
}

Result<Value> StrFunction(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  return Str(call.heap, value);
}

Result<Value> TypeFunction(const NativeCall& call) {
  TRY(const Value value, OnlyArgument(call));
  return TypeName(value);
}

Result<Value> Zip(const NativeCall& call) {
  if (!call.named.empty()) return Mistake("zip() has no named arguments");
  std::vector<std::span<const Value>> columns;
  size_t rows = call.positional.empty() ? 0 : SIZE_MAX;
  for (const Value& value : call.positional) {
    TRY(const auto items, AllItems(call.heap, value));
    rows = std::min(rows, items.size());
    columns.push_back(items);
  }
  TRY(List* const list, call.heap.New<List>());
  for (size_t row = 0; row < rows; ++row) {
    TRY(const std::span<Value> items, call.heap.NewArray<Value>(columns.size()));
    std::ranges::transform(columns, items.begin(), [row](std::span<const Value> column) { return column[row]; });
    TRY(const Tuple* const tuple, call.heap.New<Tuple>(items));
    TRY_VOID(list->Append(call.heap, tuple));
  }
  return list;
}

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

}  // namespace

std::span<const NativeEntry> Builtins() {
  static constexpr auto kBuiltins = std::to_array<NativeEntry>({
      {"abs", Abs},
      {"all", All},
      {"any", Any},
      {"bool", Bool},
      {"chr", Chr},
      {"dict", MakeDict},
      {"enumerate", Enumerate},
      {"fail", Fail},
      {"hasattr", HasAttribute},
      {"int", Int},
      {"len", Len},
      {"list", ListFunction},
      {"max", Max},
      {"min", Min},
      {"ord", Ord},
      {"range", RangeFunction},
      {"repr", ReprFunction},
      {"reversed", Reversed},
      {"sorted", Sorted},
      {"str", StrFunction},
      {"tuple", TupleFunction},
      {"type", TypeFunction},
      {"zip", Zip},
  });
  return kBuiltins;
}

const NativeEntry* FindMethod(const Value& object, std::string_view name) {
  std::span<const NativeEntry> methods;
  if (std::holds_alternative<std::string_view>(object)) methods = StringMethods();
  if (std::holds_alternative<List*>(object)) methods = ListMethods();
  if (std::holds_alternative<Dict*>(object)) methods = DictMethods();
  const auto found = std::ranges::find(methods, name, &NativeEntry::name);
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace holdfast::starlark
