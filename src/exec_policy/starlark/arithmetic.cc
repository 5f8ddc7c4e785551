#include "exec_policy/starlark/arithmetic.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string_view>
#include <utility>

#include "exec_policy/starlark/compare.h"
#include "exec_policy/starlark/description.h"
#include "exec_policy/starlark/formatting.h"
#include "exec_policy/starlark/list.h"
#include "exec_policy/starlark/mistake.h"

namespace holdfast::exec_policy {
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

}  // namespace holdfast::exec_policy
