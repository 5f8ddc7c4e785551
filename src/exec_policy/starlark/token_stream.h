// The tokens of a text as parsers use them: one token ahead, the place of a mistake, and the limit of nesting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_policy/starlark/lexer.h"
#include "exec_policy/starlark/token.h"

namespace holdfast::exec_policy {

class TokenStream {
 public:
  // The text is UTF-8 and shorter than 4 GiB.
  explicit TokenStream(std::string_view text) : lexer_(text) { Advance(); }

  const Token& token() const { return token_; }
  uint32_t offset() const { return token_.offset; }
  bool Is(TokenKind kind) const { return token_.kind == kind; }
  // Returns whether the token behind this one is of that kind.
  bool NextIs(TokenKind kind);
  void Advance() {
    token_ = ahead_ ? *ahead_ : lexer_.Next();
    ahead_.reset();
  }

  // Goes past the token if it is one of that kind.
  bool Take(TokenKind kind);
  // Goes past the token, which has to be one of that kind. The description is that of what is expected here.
  Result<> Expect(TokenKind kind, std::string_view description);
  Result<std::string_view> ExpectName(std::string_view description);

  std::unexpected<Error> Mistake(uint32_t offset, std::string message);
  // The mistake that the token is not what is expected; that of the lexer if the token is bad.
  std::unexpected<Error> Unexpected(std::string_view expected);

  // The offset of the first mistake.
  uint32_t mistake_offset() const { return mistake_offset_; }

 private:
  friend class Nesting;

  Lexer lexer_;
  Token token_;
  std::optional<Token> ahead_;
  uint32_t mistake_offset_ = 0;
  int nesting_ = 0;
};

// The levels that one function of a parser adds to the syntax tree. The limit of nesting keeps the parser, the
// evaluator and all other functions that walk the tree from exhausting the stack.
class Nesting {
 public:
  explicit Nesting(TokenStream& tokens) : tokens_(tokens) {}
  ~Nesting() { tokens_.nesting_ -= levels_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

  Result<> Add();

 private:
  TokenStream& tokens_;
  int levels_ = 0;
};

}  // namespace holdfast::exec_policy
