// The part of the parser of expressions that reads displays of lists, tuples and dicts, comprehensions, and functions
// with their parameters.
#include <utility>

#include <fmt/format.h>

#include "starlark/expression_parser.h"
#include "starlark/tree.h"

namespace holdfast::starlark {

Result<Expression> ExpressionParser::ParseParentheses() {
  const uint32_t offset = tokens_.offset();
  tokens_.Advance();
  if (tokens_.Take(TokenKind::kCloseParen)) return Expression{offset, TupleDisplay{}};
  TRY(const Expression inside, ParseTests());
  TRY_VOID(tokens_.Expect(TokenKind::kCloseParen, "`,` or `)`"));
  return inside;
}

Result<Expression> ExpressionParser::ParseBrackets() {
  const uint32_t offset = tokens_.offset();
  tokens_.Advance();
  if (tokens_.Take(TokenKind::kCloseBracket)) return Expression{offset, ListDisplay{}};
  // The first item belongs to the scope of a comprehension if one follows.
  scopes_.Open(ScopeKind::kBlock);
  TRY(const Expression first, ParseTest());
  if (tokens_.Is(TokenKind::kFor)) return ParseComprehension(offset, nullptr, first, TokenKind::kCloseBracket);
  (void)scopes_.Close();  // a block has no frame
  return ParseListRest(offset, first);
}

Result<Expression> ExpressionParser::ParseListRest(uint32_t offset, const Expression& first) {
  Gathered items(items_);
  items.Add(first);
  while (!tokens_.Take(TokenKind::kCloseBracket)) {
    TRY_VOID(tokens_.Expect(TokenKind::kComma, "`,` or `]`"));
    if (tokens_.Is(TokenKind::kCloseBracket)) continue;
    TRY(const Expression item, ParseTest());
    items.Add(item);
  }
  return Expression{offset, ListDisplay{tree_.Copy(items.items())}};
}

Result<Expression> ExpressionParser::ParseBraces() {
  const uint32_t offset = tokens_.offset();
  tokens_.Advance();
  if (tokens_.Take(TokenKind::kCloseBrace)) return Expression{offset, DictDisplay{}};
  scopes_.Open(ScopeKind::kBlock);
  TRY(const Expression key, ParseTest());
  TRY_VOID(tokens_.Expect(TokenKind::kColon, "`:` behind the key of a dict"));
  TRY(const Expression value, ParseTest());
  if (tokens_.Is(TokenKind::kFor)) return ParseComprehension(offset, Keep(key), value, TokenKind::kCloseBrace);
  (void)scopes_.Close();  // a block has no frame
  return ParseDictRest(offset, key, value);
}

Result<Expression> ExpressionParser::ParseDictRest(uint32_t offset, const Expression& key, const Expression& value) {
  Gathered items(items_);
  items.Add(key);
  items.Add(value);
  while (!tokens_.Take(TokenKind::kCloseBrace)) {
    TRY_VOID(tokens_.Expect(TokenKind::kComma, "`,` or `}`"));
    if (tokens_.Is(TokenKind::kCloseBrace)) continue;
    TRY(const Expression next_key, ParseTest());
    TRY_VOID(tokens_.Expect(TokenKind::kColon, "`:` behind the key of a dict"));
    TRY(const Expression next_value, ParseTest());
    items.Add(next_key);
    items.Add(next_value);
  }
  return Expression{offset, DictDisplay{tree_.Copy(items.items())}};
}

// Parses the clauses of a comprehension, whose scope is open, and closes the scope.
Result<Expression> ExpressionParser::ParseComprehension(uint32_t offset, const Expression* key,
                                                        const Expression& element, TokenKind end) {
  Nesting nesting(tokens_);
  std::vector<Clause> clauses;
  while (!tokens_.Take(end)) {
    TRY_VOID(nesting.Add());
    if (tokens_.Take(TokenKind::kIf)) {
      TRY(const Expression condition, ParseOperand());
      clauses.push_back({nullptr, Keep(condition)});
      continue;
    }
    TRY_VOID(tokens_.Expect(TokenKind::kFor, "`for`, `if` or the end of the comprehension"));
    TRY(const Expression target, ParseTargets());
    TRY_VOID(tokens_.Expect(TokenKind::kIn, "`in`"));
    // The first source is evaluated before any variable of the comprehension has a value.
    const bool is_outside = clauses.empty();
    Scopes::Scope scope = is_outside ? scopes_.Suspend() : Scopes::Scope{};
    TRY(const Expression source, ParseOperand());
    if (is_outside) scopes_.Resume(std::move(scope));
    clauses.push_back({Keep(target), Keep(source)});
  }
  (void)scopes_.Close();  // a block has no frame
  return Expression{
      offset,
      Comprehension{tree_.Make(ComprehensionSyntax{key, Keep(element), tree_.Copy(std::span<const Clause>(clauses))})}};
}

Result<Expression> ExpressionParser::ParseLambda() {
  const uint32_t offset = tokens_.offset();
  tokens_.Advance();
  scopes_.Open(ScopeKind::kFunction);
  TRY(const auto parameters, ParseParameters(TokenKind::kColon));
  TRY_VOID(tokens_.Expect(TokenKind::kColon, "`:`"));
  TRY(const Expression value, ParseTest());
  const Statement result{value.offset, Return{Keep(value)}};
  const int slots = scopes_.Close();
  return Expression{
      offset,
      Lambda{tree_.Make(FunctionSyntax{
          .name = "lambda", .parameters = parameters, .body = tree_.Copy(std::span(&result, 1)), .slots = slots})}};
}

Result<std::span<const ParameterSyntax>> ExpressionParser::ParseParameters(TokenKind end) {
  std::vector<ParameterSyntax> parameters;
  bool star_was_seen = false;
  while (!tokens_.Is(end)) {
    const uint32_t offset = tokens_.offset();
    if (!parameters.empty() && parameters.back().kind == ParameterKind::kDoubleStar) {
      return tokens_.Mistake(offset, "no parameter can follow the one with `**`");
    }
    const bool is_star = tokens_.Is(TokenKind::kStar);
    if (is_star && star_was_seen) return tokens_.Mistake(offset, "a second `*` parameter");
    TRY(ParameterSyntax parameter, ParseParameter(end));
    if (parameter.kind == ParameterKind::kPlain && star_was_seen) parameter.kind = ParameterKind::kNamedOnly;
    star_was_seen |= is_star;
    if (parameter.kind == ParameterKind::kPlain && parameter.initial == nullptr && !parameters.empty() &&
        parameters.back().initial != nullptr) {
      return tokens_.Mistake(offset, "a parameter without a default follows one with a default");
    }
    // A lone `*` is not a parameter: it only makes the following ones named.
    if (parameter.variable != nullptr) parameters.push_back(parameter);
    if (!tokens_.Is(end)) TRY_VOID(tokens_.Expect(TokenKind::kComma, "`,` or the end of the parameters"));
  }
  return tree_.Copy(std::span<const ParameterSyntax>(parameters));
}

Result<ParameterSyntax> ExpressionParser::ParseParameter(TokenKind end) {
  ParameterSyntax parameter;
  if (tokens_.Take(TokenKind::kStar)) {
    parameter.kind = ParameterKind::kStar;
    if (tokens_.Is(TokenKind::kComma)) return parameter;
  } else if (tokens_.Take(TokenKind::kDoubleStar)) {
    parameter.kind = ParameterKind::kDoubleStar;
  }
  const uint32_t offset = tokens_.offset();
  TRY(const std::string_view name, tokens_.ExpectName("the name of a parameter"));
  Binding* const variable = scopes_.Use(name, offset);
  if (variable->assigned) return tokens_.Mistake(offset, fmt::format("a second parameter `{}`", name));
  variable->assigned = true;
  parameter.variable = variable;
  if (end == TokenKind::kCloseParen && tokens_.Take(TokenKind::kColon)) TRY_VOID(SkipType());
  if (parameter.kind == ParameterKind::kPlain && tokens_.Take(TokenKind::kAssign)) {
    Scopes::Scope scope = scopes_.Suspend();
    TRY(const Expression initial, ParseTest());
    scopes_.Resume(std::move(scope));
    parameter.initial = Keep(initial);
  }
  return parameter;
}

Result<> ExpressionParser::SkipType() {
  scopes_.Open(ScopeKind::kBlock);
  TRY_VOID(ParseTest());
  scopes_.Drop();
  return {};
}

}  // namespace holdfast::starlark
