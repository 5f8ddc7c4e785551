// The lexer turns a text into tokens, one at a time. It makes the tokens of indentation, and refuses what the language
// does not have: tabs, byte order marks, floating-point numbers, reserved words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "starlark/token.h"

namespace holdfast::starlark {

class Lexer {
 public:
  // The text is UTF-8 and shorter than 4 GiB.
  explicit Lexer(std::string_view text) : text_(text) {}

  // Returns the next token; after the last one, and after a bad one, it returns the same token again.
  Token Next();

  // The mistake of a bad token.
  const std::string& mistake() const { return mistake_; }

 private:
  // A byte of the text, or NUL behind its end.
  char At(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  Token Bad(size_t place, std::string mistake);
  Token Make(TokenKind kind, size_t begin);

  bool SkipBlanks();
  bool MeasureIndent();
  Token IndentToken();
  Token LineEnd();
  Token NameToken();
  Token NumberToken();
  Token StringToken(size_t begin);
  Token SymbolToken();
  bool TrackBracket(char c);
  Token UnexpectedCharacter();

  std::string_view text_;
  size_t place_ = 0;
  bool at_line_start_ = true, line_is_open_ = false, indent_is_due_ = false, is_bad_ = false;
  size_t indent_ = 0;                  // of the line that begins
  std::vector<size_t> indents_ = {0};  // of the blocks that are open
  std::vector<char> brackets_;         // the closing ones that are awaited; line ends in brackets do not count
  std::string mistake_;
  Token bad_;
};

// The tokens of a text as parsers use them: one token ahead, the place of a mistake, and the limit of nesting.
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

}  // namespace holdfast::starlark
