#include "exec_policy/starlark/subscripts.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/utf8.h"
#include "exec_policy/starlark/characters.h"
#include "exec_policy/starlark/compare.h"
#include "exec_policy/starlark/description.h"
#include "exec_policy/starlark/list.h"
#include "exec_policy/starlark/mistake.h"

namespace holdfast::exec_policy {
namespace {

// Returns the number of elements of a value that has elements by number.
Result<int64_t> LengthOf(Heap& heap, const Value& object) {
  if (const auto* const text = std::get_if<std::string_view>(&object)) {
    TRY_VOID(heap.SpendOnText(3 * text->size()));  // the caller looks for two offsets afterwards
    return static_cast<int64_t>(CountCharacters(*text));
  }
  if (const auto* const range = std::get_if<const Range*>(&object)) return (*range)->size;
  if (std::holds_alternative<List*>(object) || std::holds_alternative<const Tuple*>(object)) {
    return static_cast<int64_t>(ItemsOf(object).size());
  }
  return Mistake("a value of the type {} has no elements", TypeName(object));
}

Result<int64_t> IndexOf(const Value& index, int64_t length) {
  const auto* const number = std::get_if<int64_t>(&index);
  if (number == nullptr) return Mistake("an index is a number, not a value of the type {}", TypeName(index));
  const int64_t place = *number < 0 ? *number + length : *number;
  if (place < 0 || place >= length)
    return Mistake("the index {} is out of range; there are {} elements", *number, length);
  return place;
}

Result<std::optional<int64_t>> Bound(const Value& bound) {
  if (std::holds_alternative<None>(bound)) return std::nullopt;
  if (const auto* const number = std::get_if<int64_t>(&bound)) return *number;
  return Mistake("the bound of a slice is a number, not a value of the type {}", TypeName(bound));
}

// Brings a bound into the range from `lowest` to `highest`.
int64_t Clamped(int64_t bound, int64_t length, int64_t lowest, int64_t highest) {
  return std::clamp(bound < 0 ? bound + length : bound, lowest, highest);
}

// The indexes of a slice: those of a range.
Result<Range> IndexesOf(const SliceBounds& bounds, int64_t length) {
  TRY(const auto begin, Bound(bounds.begin));
  TRY(const auto end, Bound(bounds.end));
  TRY(const auto step_bound, Bound(bounds.step));
  const int64_t step = step_bound.value_or(1);
  if (step == 0) return Mistake("the step of a slice cannot be zero");
  if (step > 0) {
    const int64_t from = Clamped(begin.value_or(0), length, 0, length);
    const int64_t to = Clamped(end.value_or(length), length, 0, length);
    return MakeRange(from, to, step);
  }
  const int64_t from = begin ? Clamped(*begin, length, -1, length - 1) : length - 1;
  const int64_t to = end ? Clamped(*end, length, -1, length - 1) : -1;
  return MakeRange(from, to, step);
}

Result<Value> SliceText(Heap& heap, std::string_view text, const Range& indexes) {
  if (indexes.size == 0) return std::string_view();
  if (indexes.step == 1) {
    const size_t begin = OffsetOfCharacter(text, static_cast<size_t>(indexes.start));
    const std::string_view rest = text.substr(begin);
    return rest.substr(0, OffsetOfCharacter(rest, static_cast<size_t>(indexes.size)));
  }
  // The offset of each character is needed, in any order.
  TRY(const auto offsets, heap.NewArray<uint32_t>(CountCharacters(text)));
  TRY_VOID(heap.Spend(offsets.size()));
  for (size_t offset = 0, index = 0; offset < text.size(); ++index) {
    offsets[index] = static_cast<uint32_t>(offset);
    offset += Utf8Length(text.substr(offset));
  }
  std::string slice;
  for (int64_t index = 0; index < indexes.size; ++index) {
    const std::string_view rest = text.substr(offsets[static_cast<size_t>(indexes.at(index))]);
    slice.append(rest.substr(0, Utf8Length(rest)));
  }
  return heap.CopyText(slice);
}

}  // namespace

Result<Value> ElementOf(Heap& heap, const Value& object, const Value& index) {
  if (const auto* const dict = std::get_if<Dict*>(&object)) {
    TRY(const Dict::Entry* const entry, Lookup(heap, **dict, index));
    if (entry == nullptr) return Mistake("the dict has no key {}", Shown(index));
    return entry->value;
  }
  TRY(const int64_t length, LengthOf(heap, object));
  TRY(const int64_t place, IndexOf(index, length));
  if (const auto* const text = std::get_if<std::string_view>(&object)) {
    return SliceText(heap, *text, MakeRange(place, place + 1, 1));
  }
  if (const auto* const range = std::get_if<const Range*>(&object)) return (*range)->at(place);
  return ItemsOf(object)[static_cast<size_t>(place)];
}

Result<> SetElement(Heap& heap, const Value& object, const Value& index, const Value& value) {
  if (const auto* const dict = std::get_if<Dict*>(&object)) return Store(heap, **dict, index, value);
  const auto* const list = std::get_if<List*>(&object);
  if (list == nullptr) return Mistake("the elements of a {} cannot be assigned to", TypeName(object));
  TRY(const int64_t place, IndexOf(index, static_cast<int64_t>((*list)->size())));
  TRY_VOID((*list)->CheckChangeable());
  (*list)->Set(static_cast<size_t>(place), value);
  return {};
}

Result<Value> SliceOf(Heap& heap, const Value& object, const SliceBounds& bounds) {
  TRY(const int64_t length, LengthOf(heap, object));
  TRY(const Range indexes, IndexesOf(bounds, length));
  if (const auto* const text = std::get_if<std::string_view>(&object)) return SliceText(heap, *text, indexes);
  if (const auto* const range = std::get_if<const Range*>(&object)) {
    const Range& all = **range;
    int64_t step = 0, stop = 0;
    if (__builtin_mul_overflow(all.step, indexes.step, &step) ||
        __builtin_mul_overflow(all.step, indexes.stop, &stop) || __builtin_add_overflow(all.start, stop, &stop)) {
      return Mistake("the slice of the range does not fit into 64 bits");
    }
    return heap.New<const Range>(MakeRange(all.at(indexes.start), stop, step));
  }
  TRY_VOID(heap.Spend(static_cast<size_t>(indexes.size)));
  TRY(const std::span<Value> items, heap.NewArray<Value>(static_cast<size_t>(indexes.size)));
  for (size_t index = 0; index < items.size(); ++index) {
    items[index] = ItemsOf(object)[static_cast<size_t>(indexes.at(static_cast<int64_t>(index)))];
  }
  if (std::holds_alternative<List*>(object)) return MakeList(heap, items);
  return heap.New<const Tuple>(items);
}

Result<TextPart> PartOfText(Heap& heap, std::string_view text, const Value& begin, const Value& end) {
  if (std::holds_alternative<None>(begin) && std::holds_alternative<None>(end)) return TextPart{0, text.size()};
  TRY(const int64_t length, LengthOf(heap, text));
  TRY(const Range indexes, IndexesOf({.begin = begin, .end = end, .step = None{}}, length));
  const size_t first = OffsetOfCharacter(text, static_cast<size_t>(indexes.start));
  const size_t last = OffsetOfCharacter(text, static_cast<size_t>(std::max(indexes.start, indexes.stop)));
  return TextPart{first, last};
}

}  // namespace holdfast::exec_policy
