#include "starlark/expression_parser.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "starlark/string_literal.h"
#include "starlark/tree.h"

namespace holdfast::starlark {
namespace {

// The levels of precedence. An operator binds more tightly than those of lower levels.
enum Level {
  kOrLevel = 1,
  kAndLevel,
  kNotLevel,
  kComparison,
  kBitOrLevel,
  kBitXorLevel,
  kBitAndLevel,
  kShift,
  kSum,
  kProduct
};

struct Infix {
  Operator op;
  int level;
};

// Returns the operator that a token is between two operands. `not` is the first half of `not in`.
std::optional<Infix> InfixOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kOr:
      return Infix{Operator::kOr, kOrLevel};
    case TokenKind::kAnd:
      return Infix{Operator::kAnd, kAndLevel};
    case TokenKind::kEqual:
      return Infix{Operator::kEqual, kComparison};
    case TokenKind::kNotEqual:
      return Infix{Operator::kNotEqual, kComparison};
    case TokenKind::kLess:
      return Infix{Operator::kLess, kComparison};
    case TokenKind::kGreater:
      return Infix{Operator::kGreater, kComparison};
    case TokenKind::kLessEqual:
      return Infix{Operator::kLessEqual, kComparison};
    case TokenKind::kGreaterEqual:
      return Infix{Operator::kGreaterEqual, kComparison};
    case TokenKind::kIn:
      return Infix{Operator::kIn, kComparison};
    case TokenKind::kNot:
      return Infix{Operator::kNotIn, kComparison};
    case TokenKind::kPipe:
      return Infix{Operator::kBitOr, kBitOrLevel};
    case TokenKind::kCaret:
      return Infix{Operator::kBitXor, kBitXorLevel};
    case TokenKind::kAmpersand:
      return Infix{Operator::kBitAnd, kBitAndLevel};
    case TokenKind::kShiftLeft:
      return Infix{Operator::kShiftLeft, kShift};
    case TokenKind::kShiftRight:
      return Infix{Operator::kShiftRight, kShift};
    case TokenKind::kPlus:
      return Infix{Operator::kAdd, kSum};
    case TokenKind::kMinus:
      return Infix{Operator::kSubtract, kSum};
    case TokenKind::kStar:
      return Infix{Operator::kMultiply, kProduct};
    case TokenKind::kDoubleSlash:
      return Infix{Operator::kFloorDivide, kProduct};
    case TokenKind::kPercent:
      return Infix{Operator::kRemainder, kProduct};
    default:
      return std::nullopt;
  }
}

std::optional<Operator> PrefixOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kMinus:
      return Operator::kNegate;
    case TokenKind::kPlus:
      return Operator::kPlus;
    case TokenKind::kTilde:
      return Operator::kInvert;
    default:
      return std::nullopt;
  }
}

// Returns whether a tuple ends before the token, so that the comma before it was the last one.
bool EndsTuple(TokenKind kind) {
  switch (kind) {
    case TokenKind::kNewline:
    case TokenKind::kEnd:
    case TokenKind::kAssign:
    case TokenKind::kCloseParen:
    case TokenKind::kCloseBracket:
    case TokenKind::kColon:
    case TokenKind::kIn:
    case TokenKind::kSemicolon:
      return true;
    default:
      return false;
  }
}

std::optional<int64_t> NumberOf(std::string_view text) {
  if (text.size() > 2 && text[0] == '0') {
    const int base = text[1] == 'x' || text[1] == 'X'   ? 16
                     : text[1] == 'o' || text[1] == 'O' ? 8
                     : text[1] == 'b' || text[1] == 'B' ? 2
                                                        : 0;
    if (base != 0) return text[2] == '-' ? std::nullopt : holdfast::ParseNumber<int64_t>(text.substr(2), base);
  }
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return holdfast::ParseNumber<int64_t>(text);
}

}  // namespace

Result<Expression> ExpressionParser::ParseTest() {
  Nesting nesting(tokens_);
  TRY_VOID(nesting.Add());
  if (tokens_.Is(TokenKind::kLambda)) return ParseLambda();
  TRY(const Expression value, ParseBinary(kOrLevel));
  const uint32_t offset = tokens_.offset();
  if (!tokens_.Take(TokenKind::kIf)) return value;
  TRY(const Expression condition, ParseBinary(kOrLevel));
  TRY_VOID(tokens_.Expect(TokenKind::kElse, "`else`"));
  TRY(const Expression otherwise, ParseTest());
  return Expression{offset, Conditional{Keep(condition), Keep(value), Keep(otherwise)}};
}

Result<Expression> ExpressionParser::ParseOperand() { return ParseBinary(kOrLevel); }

Result<Expression> ExpressionParser::ParseTests() {
  TRY(const Expression first, ParseTest());
  if (!tokens_.Is(TokenKind::kComma)) return first;
  return ParseTupleRest(first, &ExpressionParser::ParseTest);
}

Result<Expression> ExpressionParser::ParseTarget() {
  Nesting nesting(tokens_);
  TRY_VOID(nesting.Add());
  return ParseBinary(kBitOrLevel);
}

Result<Expression> ExpressionParser::ParseTargets() {
  TRY(Expression target, ParseTarget());
  if (tokens_.Is(TokenKind::kComma)) {
    TRY(target, ParseTupleRest(target, &ExpressionParser::ParseTarget));
  }
  TRY_VOID(Declare(target));
  return target;
}

// Parses the further items of a tuple, each behind a comma. The last comma may have no item behind it.
Result<Expression> ExpressionParser::ParseTupleRest(const Expression& first,
                                                    Result<Expression> (ExpressionParser::*parse)()) {
  Gathered items(items_);
  items.Add(first);
  while (tokens_.Take(TokenKind::kComma)) {
    if (EndsTuple(tokens_.token().kind)) break;
    TRY(const Expression item, (this->*parse)());
    items.Add(item);
  }
  return Expression{first.offset, TupleDisplay{tree_.Copy(items.items())}};
}

Result<> ExpressionParser::Declare(const Expression& target) {
  if (const auto* const name = std::get_if<Name>(&target.node)) {
    // A name in a list of targets was used in a block of its own, which is closed.
    Binding* binding = name->binding;
    while (binding->outer != nullptr) binding = binding->outer;
    binding->assigned = true;
    return {};
  }
  if (std::holds_alternative<Subscript>(target.node)) return {};
  const auto* const list = std::get_if<ListDisplay>(&target.node);
  const auto* const tuple = std::get_if<TupleDisplay>(&target.node);
  if (list == nullptr && tuple == nullptr) {
    return tokens_.Mistake(target.offset, "only a name, an element, or a list of these can be assigned to");
  }
  for (const Expression& item : list != nullptr ? list->items : tuple->items) TRY_VOID(Declare(item));
  return {};
}

Result<Expression> ExpressionParser::ParseBinary(int level) {
  TRY(Expression left, ParseUnary(level));
  Nesting nesting(tokens_);
  for (int highest = kProduct;;) {
    const auto infix = InfixOf(tokens_.token().kind);
    if (!infix || infix->level < level) return left;
    const uint32_t offset = tokens_.offset();
    if (infix->level > highest) {
      return tokens_.Mistake(offset, "comparisons do not chain; join two of them with `and`");
    }
    TRY_VOID(nesting.Add());
    tokens_.Advance();
    if (infix->op == Operator::kNotIn) TRY_VOID(tokens_.Expect(TokenKind::kIn, "`in` behind `not`"));
    TRY(const Expression right, ParseBinary(infix->level + 1));
    left = {offset, Binary{infix->op, Keep(left), Keep(right)}};
    highest = infix->level == kComparison ? kNotLevel : kProduct;
  }
}

Result<Expression> ExpressionParser::ParseUnary(int level) {
  const uint32_t offset = tokens_.offset();
  Nesting nesting(tokens_);
  if (level <= kNotLevel && tokens_.Take(TokenKind::kNot)) {
    TRY_VOID(nesting.Add());
    TRY(const Expression operand, ParseBinary(kNotLevel));
    return Expression{offset, Unary{Operator::kNot, Keep(operand)}};
  }
  const auto prefix = PrefixOf(tokens_.token().kind);
  if (!prefix) return ParseSuffixes();
  tokens_.Advance();
  TRY_VOID(nesting.Add());
  TRY(const Expression operand, ParseUnary(kProduct));
  return Expression{offset, Unary{*prefix, Keep(operand)}};
}

Result<Expression> ExpressionParser::ParseSuffixes() {
  TRY(Expression object, ParsePrimary());
  Nesting nesting(tokens_);
  for (;;) {
    if (tokens_.Is(TokenKind::kOpenParen)) {
      TRY(object, ParseCall(object));
    } else if (tokens_.Is(TokenKind::kOpenBracket)) {
      TRY(object, ParseSubscript(object));
    } else if (tokens_.Take(TokenKind::kDot)) {
      const uint32_t offset = tokens_.offset();
      TRY(const std::string_view name, tokens_.ExpectName("a name behind `.`"));
      object = {offset, Attribute{Keep(object), name}};
    } else {
      return object;
    }
    TRY_VOID(nesting.Add());
  }
}

Result<Expression> ExpressionParser::ParseCall(const Expression& callee) {
  tokens_.Advance();
  Gathered arguments(arguments_);
  while (!tokens_.Take(TokenKind::kCloseParen)) {
    TRY(const Argument argument, ParseArgument());
    arguments.Add(argument);
    if (!tokens_.Is(TokenKind::kCloseParen)) TRY_VOID(tokens_.Expect(TokenKind::kComma, "`,` or `)`"));
  }
  return Expression{callee.offset, CallExpression{Keep(callee), tree_.Copy(arguments.items())}};
}

Result<Argument> ExpressionParser::ParseArgument() {
  Argument argument;
  if (tokens_.Take(TokenKind::kStar)) {
    argument.kind = ArgumentKind::kStar;
  } else if (tokens_.Take(TokenKind::kDoubleStar)) {
    argument.kind = ArgumentKind::kDoubleStar;
  }
  const Token start = tokens_.token();
  if (argument.kind == ArgumentKind::kPositional && start.kind == TokenKind::kName &&
      tokens_.NextIs(TokenKind::kAssign)) {
    tokens_.Advance();
    tokens_.Advance();
    argument.kind = ArgumentKind::kNamed;
    argument.name = start.text;
  }
  TRY(argument.value, ParseTest());
  return argument;
}

Result<Expression> ExpressionParser::ParseSubscript(const Expression& object) {
  const uint32_t offset = tokens_.offset();
  tokens_.Advance();
  const Expression* begin = nullptr;
  if (!tokens_.Is(TokenKind::kColon)) {
    TRY(const Expression index, ParseTests());
    if (tokens_.Take(TokenKind::kCloseBracket)) return Expression{offset, Subscript{Keep(object), Keep(index)}};
    begin = Keep(index);
  }
  TRY_VOID(tokens_.Expect(TokenKind::kColon, "`:` or `]`"));
  TRY(const Expression* const end, ParseSliceBound());
  const Expression* step = nullptr;
  if (tokens_.Take(TokenKind::kColon)) {
    TRY(step, ParseSliceBound());
  }
  TRY_VOID(tokens_.Expect(TokenKind::kCloseBracket, "`]`"));
  return Expression{offset, Slice{tree_.Make(SliceSyntax{Keep(object), begin, end, step})}};
}

Result<const Expression*> ExpressionParser::ParseSliceBound() {
  if (tokens_.Is(TokenKind::kColon) || tokens_.Is(TokenKind::kCloseBracket)) return nullptr;
  TRY(const Expression bound, ParseTest());
  return Keep(bound);
}

Result<Expression> ExpressionParser::ParsePrimary() {
  const uint32_t offset = tokens_.offset();
  switch (tokens_.token().kind) {
    case TokenKind::kName:
      return ParseName();
    case TokenKind::kNumber:
      return ParseNumber();
    case TokenKind::kString:
      return ParseString();
    case TokenKind::kOpenParen:
      return ParseParentheses();
    case TokenKind::kOpenBracket:
      return ParseBrackets();
    case TokenKind::kOpenBrace:
      return ParseBraces();
    case TokenKind::kNone:
      tokens_.Advance();
      return Expression{offset, Literal{None{}}};
    case TokenKind::kTrue:
      tokens_.Advance();
      return Expression{offset, Literal{true}};
    case TokenKind::kFalse:
      tokens_.Advance();
      return Expression{offset, Literal{false}};
    default:
      return tokens_.Unexpected("an expression");
  }
}

Result<Expression> ExpressionParser::ParseName() {
  const Token token = tokens_.token();
  tokens_.Advance();
  return Expression{token.offset, Name{scopes_.Use(token.text, token.offset)}};
}

Result<Expression> ExpressionParser::ParseNumber() {
  const Token token = tokens_.token();
  const auto number = NumberOf(token.text);
  if (!number) {
    return tokens_.Mistake(
        token.offset, fmt::format("`{}` is no whole number of 64 bits; octal numbers begin with `0o`", token.text));
  }
  tokens_.Advance();
  return Expression{token.offset, Literal{*number}};
}

Result<Expression> ExpressionParser::ParseString() {
  const Token token = tokens_.token();
  tokens_.Advance();
  if (tokens_.Is(TokenKind::kString)) {
    return tokens_.Mistake(tokens_.offset(), "two strings side by side are not joined; put `+` between them");
  }
  const StringLiteral literal = SplitString(token.text);
  if (literal.is_format) return ParseFormatString(token);
  if (literal.body.find_first_of("\\\r") == std::string_view::npos)
    return Expression{token.offset, Literal{literal.body}};
  const auto text = DecodeString(literal.body, literal.is_raw);
  if (!text) {
    const auto skipped = static_cast<uint32_t>(literal.body.data() - token.text.data() + text.error().offset);
    return tokens_.Mistake(token.offset + skipped, text.error().message);
  }
  return Expression{token.offset, Literal{tree_.Copy(std::string_view(*text))}};
}

Result<Expression> ExpressionParser::ParseFormatString(const Token& token) {
  const StringLiteral literal = SplitString(token.text);
  const auto body_offset = token.offset + static_cast<uint32_t>(literal.body.data() - token.text.data());
  const auto parts = SplitFormat(literal);
  if (!parts) {
    return tokens_.Mistake(body_offset + static_cast<uint32_t>(parts.error().offset), parts.error().message);
  }
  Gathered items(items_);
  for (const FormatPart& part : *parts) {
    const uint32_t offset = body_offset + static_cast<uint32_t>(part.offset);
    const std::string_view text = tree_.Copy(std::string_view(part.text));
    if (part.kind == FormatPart::Kind::kText) {
      items.Add({offset, Literal{text}});
      continue;
    }
    const Expression name{offset, Name{scopes_.Use(text, offset)}};
    items.Add(part.kind == FormatPart::Kind::kStr ? name : Expression{offset, Unary{Operator::kRepr, Keep(name)}});
  }
  return Expression{token.offset, FormatString{tree_.Copy(items.items())}};
}

}  // namespace holdfast::starlark
