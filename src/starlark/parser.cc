#include "starlark/parser.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace holdfast::starlark {
namespace {

std::optional<Operator> AugmentedOperator(TokenKind kind) {
  switch (kind) {
    case TokenKind::kPlusAssign:
      return Operator::kAdd;
    case TokenKind::kMinusAssign:
      return Operator::kSubtract;
    case TokenKind::kStarAssign:
      return Operator::kMultiply;
    case TokenKind::kDoubleSlashAssign:
      return Operator::kFloorDivide;
    case TokenKind::kPercentAssign:
      return Operator::kRemainder;
    case TokenKind::kPipeAssign:
      return Operator::kBitOr;
    case TokenKind::kCaretAssign:
      return Operator::kBitXor;
    case TokenKind::kAmpersandAssign:
      return Operator::kBitAnd;
    case TokenKind::kShiftLeftAssign:
      return Operator::kShiftLeft;
    case TokenKind::kShiftRightAssign:
      return Operator::kShiftRight;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<Program> Parser::Parse(const std::function<const Value*(std::string_view)>& predeclared) {
  Statements statements;
  while (!tokens_.Is(TokenKind::kEnd)) TRY_VOID(ParseStatement(statements));
  const int slots = scopes_.Close();
  if (const Binding* const unknown = scopes_.Resolve(predeclared)) {
    return tokens_.Mistake(unknown->first_use, fmt::format("the name `{}` is not defined", unknown->name));
  }
  return Program{tree_.Copy(std::span<const Statement>(statements)), slots};
}

Result<> Parser::ParseStatement(Statements& statements) {
  Result<Statement> (Parser::*parse)() = nullptr;
  switch (tokens_.token().kind) {
    case TokenKind::kDef:
      parse = &Parser::ParseDef;
      break;
    case TokenKind::kIf:
      parse = &Parser::ParseIf;
      break;
    case TokenKind::kFor:
      parse = &Parser::ParseFor;
      break;
    case TokenKind::kIndent:
      return tokens_.Mistake(tokens_.offset(), "the line is indented without a reason");
    default:
      return ParseLine(statements);
  }
  Nesting nesting(tokens_);
  TRY_VOID(nesting.Add());
  TRY(const Statement statement, (this->*parse)());
  statements.push_back(statement);
  return {};
}

// Parses the simple statements of one line, between which stand semicolons.
Result<> Parser::ParseLine(Statements& statements) {
  do {
    TRY(const Statement statement, ParseSimple());
    statements.push_back(statement);
  } while (tokens_.Take(TokenKind::kSemicolon) && !tokens_.Is(TokenKind::kNewline));
  return tokens_.Expect(TokenKind::kNewline, "the end of the line");
}

Result<Statement> Parser::ParseSimple() {
  switch (tokens_.token().kind) {
    case TokenKind::kReturn:
      return ParseReturn();
    case TokenKind::kPass:
      return ParseJump(Jump::kPass);
    case TokenKind::kBreak:
      return ParseJump(Jump::kBreak);
    case TokenKind::kContinue:
      return ParseJump(Jump::kContinue);
    default:
      return ParseExpressionOrAssignment();
  }
}

Result<Statement> Parser::ParseJump(Jump jump) {
  const Token token = tokens_.token();
  if (jump != Jump::kPass && loops_ == 0) {
    return tokens_.Mistake(token.offset, fmt::format("`{}` stands in no loop", token.text));
  }
  tokens_.Advance();
  return Statement{token.offset, jump};
}

Result<Statement> Parser::ParseReturn() {
  const uint32_t offset = tokens_.offset();
  if (functions_ == 0) return tokens_.Mistake(offset, "`return` stands in no function");
  tokens_.Advance();
  if (tokens_.Is(TokenKind::kNewline) || tokens_.Is(TokenKind::kSemicolon)) return Statement{offset, Return{nullptr}};
  TRY(const Expression value, expressions_.ParseTests());
  return Statement{offset, Return{expressions_.Keep(value)}};
}

Result<Statement> Parser::ParseExpressionOrAssignment() {
  TRY(const Expression target, expressions_.ParseTests());
  if (const auto op = AugmentedOperator(tokens_.token().kind)) return ParseAugmented(target, *op);
  const bool is_name = std::holds_alternative<Name>(target.node);
  const bool has_type = is_name && tokens_.Take(TokenKind::kColon);
  if (has_type) TRY_VOID(expressions_.SkipType());
  const uint32_t offset = tokens_.offset();
  if (!has_type && !tokens_.Is(TokenKind::kAssign)) return Statement{target.offset, Evaluate{target}};
  TRY_VOID(tokens_.Expect(TokenKind::kAssign, "`=` and a value"));
  TRY_VOID(expressions_.Declare(target));
  TRY(const Expression value, expressions_.ParseTests());
  return Statement{offset, Assign{expressions_.Keep(target), expressions_.Keep(value)}};
}

Result<Statement> Parser::ParseAugmented(const Expression& target, Operator op) {
  const uint32_t offset = tokens_.offset();
  if (!std::holds_alternative<Name>(target.node) && !std::holds_alternative<Subscript>(target.node)) {
    return tokens_.Mistake(target.offset, "only a name or an element can be changed by an operator");
  }
  TRY_VOID(expressions_.Declare(target));
  tokens_.Advance();
  TRY(const Expression value, expressions_.ParseTests());
  return Statement{offset, AugmentedAssign{op, expressions_.Keep(target), expressions_.Keep(value)}};
}

Result<Statement> Parser::ParseDef() {
  const uint32_t offset = tokens_.offset();
  tokens_.Advance();
  const uint32_t name_offset = tokens_.offset();
  TRY(const std::string_view name, tokens_.ExpectName("the name of the function"));
  Binding* const binding = scopes_.Use(name, name_offset);
  binding->assigned = true;
  TRY_VOID(tokens_.Expect(TokenKind::kOpenParen, "`(`"));
  scopes_.Open(ScopeKind::kFunction);
  TRY(const auto parameters, expressions_.ParseParameters(TokenKind::kCloseParen));
  TRY_VOID(tokens_.Expect(TokenKind::kCloseParen, "`)`"));
  if (tokens_.Take(TokenKind::kArrow)) TRY_VOID(expressions_.SkipType());
  const int loops_outside = std::exchange(loops_, 0);
  ++functions_;
  TRY(const Block body, ParseSuite());
  --functions_;
  loops_ = loops_outside;
  const int slots = scopes_.Close();
  const FunctionSyntax function{.name = name, .parameters = parameters, .body = body, .slots = slots};
  return Statement{offset, Def{binding, tree_.Make(function)}};
}

Result<Statement> Parser::ParseIf() {
  const uint32_t offset = tokens_.offset();
  std::vector<Branch> branches;
  do {
    tokens_.Advance();  // `if` or `elif`
    TRY(const Expression condition, expressions_.ParseTest());
    TRY(const Block body, ParseSuite());
    branches.push_back({expressions_.Keep(condition), body});
  } while (tokens_.Is(TokenKind::kElif));
  if (tokens_.Take(TokenKind::kElse)) {
    TRY(const Block body, ParseSuite());
    branches.push_back({nullptr, body});
  }
  return Statement{offset, If{tree_.Copy(std::span<const Branch>(branches))}};
}

Result<Statement> Parser::ParseFor() {
  const uint32_t offset = tokens_.offset();
  tokens_.Advance();
  TRY(const Expression target, expressions_.ParseTargets());
  TRY_VOID(tokens_.Expect(TokenKind::kIn, "`in`"));
  TRY(const Expression source, expressions_.ParseTests());
  ++loops_;
  TRY(const Block body, ParseSuite());
  --loops_;
  return Statement{offset, For{expressions_.Keep(target), expressions_.Keep(source), body}};
}

// Parses a colon and the statements behind it, which stand on the same line or are indented.
Result<Block> Parser::ParseSuite() {
  TRY_VOID(tokens_.Expect(TokenKind::kColon, "`:`"));
  Statements statements;
  if (!tokens_.Take(TokenKind::kNewline)) {
    TRY_VOID(ParseLine(statements));
    return tree_.Copy(std::span<const Statement>(statements));
  }
  TRY_VOID(tokens_.Expect(TokenKind::kIndent, "an indented line"));
  while (!tokens_.Take(TokenKind::kDedent)) TRY_VOID(ParseStatement(statements));
  return tree_.Copy(std::span<const Statement>(statements));
}

}  // namespace holdfast::starlark
