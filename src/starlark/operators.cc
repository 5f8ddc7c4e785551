#include "starlark/operators.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "starlark/characters.h"
#include "starlark/compare.h"
#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/list.h"

namespace holdfast::starlark {
namespace {

std::string_view Symbol(Operator op) {
  switch (op) {
    case Operator::kBitOr:
      return "|";
    case Operator::kBitXor:
      return "^";
    case Operator::kBitAnd:
      return "&";
    case Operator::kShiftLeft:
      return "<<";
    case Operator::kShiftRight:
      return ">>";
    case Operator::kAdd:
    case Operator::kPlus:
      return "+";
    case Operator::kSubtract:
    case Operator::kNegate:
      return "-";
    case Operator::kMultiply:
      return "*";
    case Operator::kFloorDivide:
      return "//";
    case Operator::kRemainder:
      return "%";
    case Operator::kInvert:
      return "~";
    case Operator::kIn:
      return "in";
    case Operator::kNotIn:
      return "not in";
    default:
      std::unreachable();
  }
}

std::unexpected<Error> Unsupported(Operator op, const Value& left, const Value& right) {
  return Mistake("`{}` does not take values of the types {} and {}", Symbol(op), TypeName(left), TypeName(right));
}

std::unexpected<Error> Overflow() { return Mistake("the number does not fit into 64 bits"); }

Result<Value> Shift(Operator op, int64_t left, int64_t right) {
  if (right < 0 || right > 63) return Mistake("a shift by {} bits; 0 to 63 are possible", right);
  if (op == Operator::kShiftRight) return left >> right;
  const auto shifted = static_cast<int64_t>(static_cast<uint64_t>(left) << right);
  if (shifted >> right != left) return Overflow();
  return shifted;
}

// Division rounds down, and the remainder has the sign of the divisor.
Result<Value> Divide(Operator op, int64_t left, int64_t right) {
  if (right == 0) return Mistake("a division by zero");
  if (right == -1) {
    if (op == Operator::kRemainder) return int64_t{0};
    if (left == INT64_MIN) return Overflow();
    return -left;
  }
  const int64_t quotient = left / right, remainder = left % right;
  const bool rounds_up = remainder != 0 && (remainder < 0) != (right < 0);
  if (op == Operator::kRemainder) return rounds_up ? remainder + right : remainder;
  return rounds_up ? quotient - 1 : quotient;
}

Result<Value> Integers(Operator op, int64_t left, int64_t right) {
  int64_t result = 0;
  switch (op) {
    case Operator::kAdd:
      if (__builtin_add_overflow(left, right, &result)) return Overflow();
      return result;
    case Operator::kSubtract:
      if (__builtin_sub_overflow(left, right, &result)) return Overflow();
      return result;
    case Operator::kMultiply:
      if (__builtin_mul_overflow(left, right, &result)) return Overflow();
      return result;
    case Operator::kFloorDivide:
    case Operator::kRemainder:
      return Divide(op, left, right);
    case Operator::kShiftLeft:
    case Operator::kShiftRight:
      return Shift(op, left, right);
    case Operator::kBitOr:
      return left | right;
    case Operator::kBitXor:
      return left ^ right;
    case Operator::kBitAnd:
      return left & right;
    default:
      std::unreachable();
  }
}

Result<std::span<const Value>> JoinedItems(Heap& heap, std::span<const Value> left, std::span<const Value> right) {
  TRY(const std::span<Value> items, heap.NewArray<Value>(left.size() + right.size()));
  std::ranges::copy(right, std::ranges::copy(left, items.begin()).out);
  return items;
}

Result<Value> Add(Heap& heap, const Value& left, const Value& right) {
  if (const auto* const text = std::get_if<std::string_view>(&left)) {
    const auto more = std::get<std::string_view>(right);
    TRY(const std::span<char> joined, heap.NewArray<char>(text->size() + more.size()));
    std::ranges::copy(more, std::ranges::copy(*text, joined.begin()).out);
    return std::string_view(joined.data(), joined.size());
  }
  TRY(const auto items, JoinedItems(heap, ItemsOf(left), ItemsOf(right)));
  if (std::holds_alternative<List*>(left)) return MakeList(heap, items);
  return heap.New<const Tuple>(items);
}

Result<Value> Repeat(Heap& heap, const Value& object, int64_t times) {
  const auto* const text = std::get_if<std::string_view>(&object);
  const size_t unit = text != nullptr ? text->size() : ItemsOf(object).size();
  const size_t count = times < 0 || unit == 0 ? 0 : static_cast<size_t>(times);
  size_t size = 0;
  // A size that does not fit is larger than any memory.
  if (__builtin_mul_overflow(unit, count, &size)) size = SIZE_MAX;
  if (text != nullptr) {
    TRY(const std::span<char> repeated, heap.NewArray<char>(size));
    for (size_t place = 0; place < size; place += unit) std::ranges::copy(*text, repeated.subspan(place).begin());
    return std::string_view(repeated.data(), size);
  }
  TRY(const std::span<Value> items, heap.NewArray<Value>(size));
  for (size_t place = 0; place < size; place += unit) {
    std::ranges::copy(ItemsOf(object), items.subspan(place).begin());
  }
  if (std::holds_alternative<List*>(object)) return MakeList(heap, items);
  return heap.New<const Tuple>(items);
}

bool IsSequence(const Value& value) {
  return std::holds_alternative<std::string_view>(value) || std::holds_alternative<List*>(value) ||
         std::holds_alternative<const Tuple*>(value);
}

Result<Value> Union(Heap& heap, const Dict& left, const Dict& right) {
  TRY(Dict* const joined, heap.New<Dict>());
  for (const Dict* const part : {&left, &right}) {
    for (const Dict::Entry& entry : part->entries()) {
      if (entry.live) TRY_VOID(Store(heap, *joined, entry.key, entry.value));
    }
  }
  return joined;
}

Result<bool> Contains(Heap& heap, Operator op, const Value& item, const Value& container) {
  if (const auto* const text = std::get_if<std::string_view>(&container)) {
    const auto* const part = std::get_if<std::string_view>(&item);
    if (part == nullptr) return Unsupported(op, item, container);
    TRY_VOID(heap.SpendOnSearch(text->size(), part->size()));
    return text->contains(*part);
  }
  if (const auto* const dict = std::get_if<Dict*>(&container)) {
    TRY(const Dict::Entry* const entry, Lookup(heap, **dict, item));
    return entry != nullptr;
  }
  if (const auto* const range = std::get_if<const Range*>(&container)) {
    const auto* const number = std::get_if<int64_t>(&item);
    return number != nullptr && (*range)->Contains(*number);
  }
  if (!IsSequence(container)) return Unsupported(op, item, container);
  for (const Value& other : ItemsOf(container)) {
    TRY(const bool same, Equal(heap, item, other));
    if (same) return true;
  }
  return false;
}

Result<Value> Compare(Heap& heap, Operator op, const Value& left, const Value& right) {
  if (op == Operator::kEqual || op == Operator::kNotEqual) {
    TRY(const bool same, Equal(heap, left, right));
    return same == (op == Operator::kEqual);
  }
  TRY(const std::strong_ordering order, Order(heap, left, right));
  switch (op) {
    case Operator::kLess:
      return order < 0;
    case Operator::kGreater:
      return order > 0;
    case Operator::kLessEqual:
      return order <= 0;
    default:
      return order >= 0;
  }
}

Result<Value> Arithmetic(Heap& heap, Operator op, const Value& left, const Value& right) {
  const auto* const left_number = std::get_if<int64_t>(&left);
  const auto* const right_number = std::get_if<int64_t>(&right);
  if (left_number != nullptr && right_number != nullptr) return Integers(op, *left_number, *right_number);
  if (op == Operator::kAdd && IsSequence(left) && left.index() == right.index()) return Add(heap, left, right);
  if (op == Operator::kMultiply && IsSequence(left) && right_number != nullptr)
    return Repeat(heap, left, *right_number);
  if (op == Operator::kMultiply && IsSequence(right) && left_number != nullptr)
    return Repeat(heap, right, *left_number);
  if (const auto* const text = std::get_if<std::string_view>(&left); text != nullptr && op == Operator::kRemainder) {
    return PercentFormat(heap, *text, right);
  }
  if (op == Operator::kBitOr && std::holds_alternative<Dict*>(left) && std::holds_alternative<Dict*>(right)) {
    return Union(heap, *std::get<Dict*>(left), *std::get<Dict*>(right));
  }
  return Unsupported(op, left, right);
}

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

Result<Value> ApplyBinary(Heap& heap, Operator op, const Value& left, const Value& right) {
  switch (op) {
    case Operator::kEqual:
    case Operator::kNotEqual:
    case Operator::kLess:
    case Operator::kGreater:
    case Operator::kLessEqual:
    case Operator::kGreaterEqual:
      return Compare(heap, op, left, right);
    case Operator::kIn:
    case Operator::kNotIn: {
      TRY(const bool found, Contains(heap, op, left, right));
      return found == (op == Operator::kIn);
    }
    default:
      return Arithmetic(heap, op, left, right);
  }
}

Result<Value> ApplyUnary(Heap& heap, Operator op, const Value& operand) {
  if (op == Operator::kNot) return !Truth(operand);
  if (op == Operator::kRepr) return Repr(heap, operand);
  const auto* const number = std::get_if<int64_t>(&operand);
  if (number == nullptr) return Mistake("`{}` does not take a value of the type {}", Symbol(op), TypeName(operand));
  if (op == Operator::kPlus) return *number;
  if (op == Operator::kInvert) return ~*number;
  return Integers(Operator::kSubtract, 0, *number);
}

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

}  // namespace holdfast::starlark
