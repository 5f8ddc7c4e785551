// The parser turns a text into a syntax tree in which every name is resolved. It goes from the start to the end once.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "starlark/expression_parser.h"
#include "starlark/scopes.h"
#include "starlark/statements.h"
#include "starlark/token_stream.h"
#include "starlark/tree.h"

namespace holdfast::starlark {

class Parser {
 public:
  // The text is UTF-8 and shorter than 4 GiB. The tree refers to it.
  Parser(std::string_view text, Tree& tree)
      : tree_(tree), tokens_(text), scopes_(tree), expressions_(tokens_, scopes_, tree) {}

  // Parses the program. `predeclared` returns the value of a name that the program does not define, or null.
  Result<Program> Parse(const std::function<const Value*(std::string_view)>& predeclared);

  // The offset in the text of the mistake that Parse has returned.
  uint32_t mistake_offset() const { return tokens_.mistake_offset(); }

 private:
  using Statements = std::vector<Statement>;

  Result<> ParseStatement(Statements& statements);
  Result<> ParseLine(Statements& statements);
  Result<Statement> ParseSimple();
  Result<Statement> ParseJump(Jump jump);
  Result<Statement> ParseReturn();
  Result<Statement> ParseExpressionOrAssignment();
  Result<Statement> ParseAugmented(const Expression& target, Operator op);
  Result<Statement> ParseDef();
  Result<Statement> ParseIf();
  Result<Statement> ParseFor();
  Result<Block> ParseSuite();

  Tree& tree_;
  TokenStream tokens_;
  Scopes scopes_;
  ExpressionParser expressions_;
  int loops_ = 0, functions_ = 0;  // those around the token
};

}  // namespace holdfast::starlark
