// The syntax tree of a program: expressions. statements.h has the statements. The nodes refer to each other and to the
// text, and live in a Tree.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "starlark/binding.h"
#include "starlark/operator.h"
#include "starlark/value.h"

namespace holdfast::starlark {

struct Expression;
struct FunctionSyntax;

struct Literal {
  Value value;
};
struct Name {
  Binding* binding;
};
struct ListDisplay {
  std::span<const Expression> items;
};
struct TupleDisplay {
  std::span<const Expression> items;
};
// Keys and values in turn.
struct DictDisplay {
  std::span<const Expression> items;
};
// `for target in source`, or `if condition` if there is no target.
struct Clause {
  const Expression* target;
  const Expression* source;
};
// The list [element for ...], or the dict {key: element for ...} if there is a key.
struct ComprehensionSyntax {
  const Expression *key, *element;
  std::span<const Clause> clauses;
};
struct Comprehension {
  const ComprehensionSyntax* syntax;
};
enum class ArgumentKind { kPositional, kNamed, kStar, kDoubleStar };
struct Argument;
struct CallExpression {
  const Expression* callee;
  std::span<const Argument> arguments;
};
struct Subscript {
  const Expression *object, *index;
};
// object[begin:end:step], each of which may be missing.
struct SliceSyntax {
  const Expression *object, *begin, *end, *step;
};
struct Slice {
  const SliceSyntax* syntax;
};
struct Attribute {
  const Expression* object;
  std::string_view name;
};
struct Unary {
  Operator op;
  const Expression* operand;
};
struct Binary {
  Operator op;
  const Expression *left, *right;
};
struct Conditional {
  const Expression *condition, *yes, *no;
};
struct Lambda {
  const FunctionSyntax* function;
};
// An f-string: the texts of all parts joined.
struct FormatString {
  std::span<const Expression> parts;
};

struct Expression {
  uint32_t offset = 0;  // of the place in the text that a mistake in this expression is reported at
  std::variant<Literal, Name, ListDisplay, TupleDisplay, DictDisplay, Comprehension, CallExpression, Subscript, Slice,
               Attribute, Unary, Binary, Conditional, Lambda, FormatString>
      node = Literal{};
};

struct Argument {
  ArgumentKind kind = ArgumentKind::kPositional;
  std::string_view name = {};
  Expression value = {};
};

}  // namespace holdfast::starlark
