// The lexer turns a text into tokens, one at a time. It makes the tokens of indentation, and refuses what the language
// does not have: tabs, byte order marks, floating-point numbers, reserved words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exec_policy/starlark/token.h"

namespace holdfast::exec_policy {

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

}  // namespace holdfast::exec_policy
