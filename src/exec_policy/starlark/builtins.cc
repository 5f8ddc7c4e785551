// The functions that every program can use.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "exec_policy/starlark/arguments.h"
#include "exec_policy/starlark/characters.h"
#include "exec_policy/starlark/compare.h"
#include "exec_policy/starlark/description.h"
#include "exec_policy/starlark/dict_methods.h"
#include "exec_policy/starlark/iteration.h"
#include "exec_policy/starlark/list.h"
#include "exec_policy/starlark/mistake.h"
#include "exec_policy/starlark/native.h"
#include "exec_policy/starlark/ordering.h"

namespace holdfast::exec_policy {
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

}  // namespace holdfast::exec_policy
