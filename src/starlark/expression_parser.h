// The parser of expressions. It also has the parameters of functions, because a lambda is an expression.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "starlark/scopes.h"
#include "starlark/statements.h"
#include "starlark/syntax.h"
#include "starlark/token.h"
#include "starlark/token_stream.h"
#include "starlark/tree.h"

namespace holdfast::starlark {

class ExpressionParser {
 public:
  ExpressionParser(TokenStream& tokens, Scopes& scopes, Tree& tree) : tokens_(tokens), scopes_(scopes), tree_(tree) {}

  // Parses one expression.
  Result<Expression> ParseTest();
  // Parses one expression, or several with commas between them, which are a tuple.
  Result<Expression> ParseTests();
  // Parses what stands between `for` and `in`, and declares the names in it.
  Result<Expression> ParseTargets();
  // Makes the names of a target variables of the innermost scope. Fails if the expression cannot be assigned to.
  Result<> Declare(const Expression& target);

  // Parses parameters up to the token that ends them, and declares them in the innermost scope. Their defaults belong
  // to the scope around it.
  Result<std::span<const ParameterSyntax>> ParseParameters(TokenKind end);
  // Parses a type, which is checked for its syntax only.
  Result<> SkipType();

  const Expression* Keep(const Expression& expression) { return tree_.Make(expression); }

 private:
  // Parses an expression that is not a conditional one, because an `if` behind it means something else.
  Result<Expression> ParseOperand();
  Result<Expression> ParseBinary(int level);
  Result<Expression> ParseUnary(int level);
  Result<Expression> ParseSuffixes();
  Result<Expression> ParseCall(const Expression& callee);
  Result<Argument> ParseArgument();
  Result<Expression> ParseSubscript(const Expression& object);
  Result<const Expression*> ParseSliceBound();

  Result<Expression> ParsePrimary();
  Result<Expression> ParseName();
  Result<Expression> ParseNumber();
  Result<Expression> ParseString();
  Result<Expression> ParseFormatString(const Token& token);
  Result<Expression> ParseLambda();
  Result<ParameterSyntax> ParseParameter(TokenKind end);

  Result<Expression> ParseParentheses();
  Result<Expression> ParseBrackets();
  Result<Expression> ParseListRest(uint32_t offset, const Expression& first);
  Result<Expression> ParseBraces();
  Result<Expression> ParseDictRest(uint32_t offset, const Expression& key, const Expression& value);
  Result<Expression> ParseTupleRest(const Expression& first, Result<Expression> (ExpressionParser::*parse)());
  Result<Expression> ParseTarget();
  Result<Expression> ParseComprehension(uint32_t offset, const Expression* key, const Expression& element,
                                        TokenKind end);

  TokenStream& tokens_;
  Scopes& scopes_;
  Tree& tree_;
  std::vector<Expression> items_;    // of the displays around the token
  std::vector<Argument> arguments_;  // of the calls around the token
};

}  // namespace holdfast::starlark
