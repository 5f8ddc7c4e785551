// The syntax tree of a program: statements and functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "starlark/syntax.h"

namespace holdfast::starlark {

struct Statement;
using Block = std::span<const Statement>;

struct Evaluate {
  Expression value;
};
struct Assign {
  const Expression *target, *value;
};
struct AugmentedAssign {
  Operator op;
  const Expression *target, *value;
};
// One branch of an if statement; the one of `else` has no condition.
struct Branch {
  const Expression* condition;
  Block body;
};
struct If {
  std::span<const Branch> branches;
};
struct For {
  const Expression *target, *source;
  Block body;
};
struct Def {
  const Binding* name;
  const FunctionSyntax* function;
};
struct Return {
  const Expression* value;  // null means None
};
enum class Jump { kPass, kBreak, kContinue };

struct Statement {
  uint32_t offset = 0;
  std::variant<Jump, Evaluate, Assign, AugmentedAssign, If, For, Def, Return> node = Jump::kPass;
};

enum class ParameterKind { kPlain, kNamedOnly, kStar, kDoubleStar };

struct ParameterSyntax {
  ParameterKind kind = ParameterKind::kPlain;
  const Binding* variable = nullptr;
  const Expression* initial = nullptr;  // the default; null if the argument is required
};

struct FunctionSyntax {
  std::string_view name;
  std::span<const ParameterSyntax> parameters;
  Block body;
  int slots = 0;  // the number of variables in a frame of the function
};

// A whole program, which is the body of the outermost frame.
struct Program {
  Block body;
  int slots = 0;
};

}  // namespace holdfast::starlark
