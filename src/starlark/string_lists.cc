#include "starlark/string_lists.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "starlark/arguments.h"
#include "starlark/compare.h"
#include "starlark/diagnostic.h"
#include "starlark/heap.h"
#include "starlark/iteration.h"
#include "starlark/list.h"

namespace holdfast::starlark {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\v\f";

std::string_view Self(const NativeCall& call) { return std::get<std::string_view>(call.self); }

enum class From { kStart, kEnd };

// The parts before and behind the place where a text is split.
struct Halves {
  std::string_view before, behind;
};

// Splits a text at the first separator, or at the last one. Blanks around it go away if the separator is empty.
std::optional<Halves> SplitOnce(std::string_view text, std::string_view separator, From from) {
  if (!separator.empty()) {
    const size_t place = from == From::kStart ? text.find(separator) : text.rfind(separator);
    if (place == std::string_view::npos) return std::nullopt;
    return Halves{text.substr(0, place), text.substr(place + separator.size())};
  }
  const size_t place = from == From::kStart ? text.find_first_of(kBlanks) : text.find_last_of(kBlanks);
  if (place == std::string_view::npos) return std::nullopt;
  return Halves{text.substr(0, place), text.substr(place + 1)};
}

std::string_view WithoutBlanks(std::string_view text, From from) {
  if (from == From::kEnd) return text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Splits the string at most `limit` times, from one end. The separator is empty if blanks separate.
Result<List*> Split(const NativeCall& call, std::string_view separator, int64_t limit, From from) {
  TRY(List* const parts, call.heap.New<List>());
  const bool by_blanks = separator.empty();
  std::string_view rest = by_blanks ? WithoutBlanks(Self(call), from) : Self(call);
  for (; limit != 0; --limit) {
    const auto halves = SplitOnce(rest, separator, from);
    if (!halves) break;
    TRY_VOID(call.heap.Spend(1));
    TRY_VOID(parts->Append(call.heap, from == From::kStart ? halves->before : halves->behind));
    rest = from == From::kStart ? halves->behind : halves->before;
    if (by_blanks) rest = WithoutBlanks(rest, from);
  }
  // What is left has blanks at its other end only.
  if (by_blanks) rest = WithoutBlanks(rest, from == From::kStart ? From::kEnd : From::kStart);
  if (!by_blanks || !rest.empty()) TRY_VOID(parts->Append(call.heap, rest));
  return parts;
}

Result<List*> SplitFrom(const NativeCall& call, From from) {
  TRY(const auto arguments, Arguments<2>(call, 0, {"sep", "maxsplit"}));
  TRY(const int64_t limit, NumberArgument(call, arguments[1].value_or(int64_t{-1})));
  std::string_view separator;
  if (arguments[0] && !std::holds_alternative<None>(*arguments[0])) {
    TRY(separator, TextArgument(call, *arguments[0]));
    if (separator.empty()) return Mistake("the separator is empty");
  }
  TRY_VOID(call.heap.SpendOnSearch(Self(call).size(), separator.size() + 1));
  return Split(call, separator, limit, from);
}

Result<Value> PartitionFrom(const NativeCall& call, From from) {
  TRY(const Value argument, OnlyArgument(call));
  TRY(const std::string_view separator, TextArgument(call, argument));
  if (separator.empty()) return Mistake("the separator is empty");
  TRY_VOID(call.heap.SpendOnSearch(Self(call).size(), separator.size()));
  const std::string_view nothing;
  if (const auto halves = SplitOnce(Self(call), separator, from)) {
    return MakeTuple(call.heap, std::array<Value, 3>{halves->before, separator, halves->behind});
  }
  if (from == From::kStart) return MakeTuple(call.heap, std::array<Value, 3>{Self(call), nothing, nothing});
  return MakeTuple(call.heap, std::array<Value, 3>{nothing, nothing, Self(call)});
}

}  // namespace

Result<Value> TextElements(const NativeCall& call) {
  TRY_VOID(NoArguments(call));
  TRY(List* const elements, call.heap.New<List>());
  for (std::string_view rest = Self(call); !rest.empty(); rest.remove_prefix(Utf8Length(rest))) {
    TRY_VOID(call.heap.Spend(1));
    TRY_VOID(elements->Append(call.heap, rest.substr(0, Utf8Length(rest))));
  }
  return elements;
}

Result<Value> JoinTexts(const NativeCall& call) {
  TRY(const Value argument, OnlyArgument(call));
  TRY(const auto items, AllItems(call.heap, argument));
  TextBuilder builder(call.heap);
  for (size_t index = 0; index < items.size(); ++index) {
    TRY(const std::string_view text, TextArgument(call, items[index]));
    if (index > 0) TRY_VOID(builder.Add(Self(call)));
    TRY_VOID(builder.Add(text));
  }
  return builder.Finish();
}

Result<Value> PartitionText(const NativeCall& call) { return PartitionFrom(call, From::kStart); }
Result<Value> PartitionTextAtLast(const NativeCall& call) { return PartitionFrom(call, From::kEnd); }
Result<Value> SplitText(const NativeCall& call) { return SplitFrom(call, From::kStart); }

Result<Value> SplitTextFromEnd(const NativeCall& call) {
  TRY(List* const parts, SplitFrom(call, From::kEnd));
  TRY(const std::span<Value> reversed, call.heap.NewArray<Value>(parts->size()));
  std::ranges::reverse_copy(parts->items(), reversed.begin());
  return MakeList(call.heap, reversed);
}

Result<Value> SplitLines(const NativeCall& call) {
  TRY(const auto arguments, Arguments<1>(call, 0, {"keepends"}));
  const bool keeps_ends = Truth(arguments[0].value_or(false));
  TRY_VOID(call.heap.SpendOnText(Self(call).size()));
  TRY(List* const lines, call.heap.New<List>());
  for (std::string_view rest = Self(call); !rest.empty();) {
    const size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    const size_t ending = rest.substr(end).starts_with("\r\n") ? 2 : end < rest.size() ? 1 : 0;
    TRY_VOID(call.heap.Spend(1));
    TRY_VOID(lines->Append(call.heap, rest.substr(0, end + (keeps_ends ? ending : 0))));
    rest.remove_prefix(end + ending);
  }
  return lines;
}

}  // namespace holdfast::starlark
