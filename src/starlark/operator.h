// The operators of the language.
#pragma once

namespace holdfast::starlark {

enum class Operator {
  kOr,
  kAnd,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kIn,
  kNotIn,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShiftLeft,
  kShiftRight,
  kAdd,
  kSubtract,
  kMultiply,
  kFloorDivide,
  kRemainder,
  kNegate,
  kPlus,
  kInvert,
  kRepr,  // only in f-strings
};

}  // namespace holdfast::starlark
