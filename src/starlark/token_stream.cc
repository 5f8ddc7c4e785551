#include "starlark/token_stream.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "starlark/characters.h"

namespace holdfast::starlark {
namespace {

using Word = std::pair<std::string_view, TokenKind>;

constexpr std::array<Word, 17> kKeywords = {{
    {"and", TokenKind::kAnd},
    {"break", TokenKind::kBreak},
    {"continue", TokenKind::kContinue},
    {"def", TokenKind::kDef},
    {"elif", TokenKind::kElif},
    {"else", TokenKind::kElse},
    {"False", TokenKind::kFalse},
    {"for", TokenKind::kFor},
    {"if", TokenKind::kIf},
    {"in", TokenKind::kIn},
    {"lambda", TokenKind::kLambda},
    {"None", TokenKind::kNone},
    {"not", TokenKind::kNot},
    {"or", TokenKind::kOr},
    {"pass", TokenKind::kPass},
    {"return", TokenKind::kReturn},
    {"True", TokenKind::kTrue},
}};

constexpr std::array<std::string_view, 19> kReserved = {
    "as",     "assert", "async", "await",    "class", "del", "except", "finally", "from", "global",
    "import", "is",     "load",  "nonlocal", "raise", "try", "while",  "with",    "yield"};

// The symbols that begin with a character of which there is more than one symbol. Longer ones stand before those that
// they begin with.
constexpr std::array<Word, 29> kSymbols = {{
    {"//=", TokenKind::kDoubleSlashAssign},
    {"<<=", TokenKind::kShiftLeftAssign},
    {">>=", TokenKind::kShiftRightAssign},
    {"->", TokenKind::kArrow},
    {"==", TokenKind::kEqual},
    {"!=", TokenKind::kNotEqual},
    {"<=", TokenKind::kLessEqual},
    {">=", TokenKind::kGreaterEqual},
    {"**", TokenKind::kDoubleStar},
    {"//", TokenKind::kDoubleSlash},
    {"<<", TokenKind::kShiftLeft},
    {">>", TokenKind::kShiftRight},
    {"+=", TokenKind::kPlusAssign},
    {"-=", TokenKind::kMinusAssign},
    {"*=", TokenKind::kStarAssign},
    {"%=", TokenKind::kPercentAssign},
    {"|=", TokenKind::kPipeAssign},
    {"^=", TokenKind::kCaretAssign},
    {"&=", TokenKind::kAmpersandAssign},
    {"=", TokenKind::kAssign},
    {"<", TokenKind::kLess},
    {">", TokenKind::kGreater},
    {"+", TokenKind::kPlus},
    {"-", TokenKind::kMinus},
    {"*", TokenKind::kStar},
    {"%", TokenKind::kPercent},
    {"|", TokenKind::kPipe},
    {"^", TokenKind::kCaret},
    {"&", TokenKind::kAmpersand},
}};

// Returns the kind of a character that is a symbol by itself, or kBad.
constexpr TokenKind SingleKind(char c) {
  switch (c) {
    case '(':
      return TokenKind::kOpenParen;
    case ')':
      return TokenKind::kCloseParen;
    case '[':
      return TokenKind::kOpenBracket;
    case ']':
      return TokenKind::kCloseBracket;
    case '{':
      return TokenKind::kOpenBrace;
    case '}':
      return TokenKind::kCloseBrace;
    case ',':
      return TokenKind::kComma;
    case ':':
      return TokenKind::kColon;
    case ';':
      return TokenKind::kSemicolon;
    case '.':
      return TokenKind::kDot;
    case '~':
      return TokenKind::kTilde;
    default:
      return TokenKind::kBad;
  }
}

// Returns the closing bracket of an opening one, or NUL.
constexpr char ClosingOf(char c) { return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '\0'; }
constexpr bool IsClosing(char c) { return c == ')' || c == ']' || c == '}'; }

constexpr int kMaxNesting = 200;

std::string Found(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the file";
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
      return "an indented line";
    case TokenKind::kDedent:
      return "the end of the indented lines";
    case TokenKind::kString:
      return "a string";
    default:
      return fmt::format("`{}`", token.text);
  }
}

}  // namespace

Token Lexer::Bad(size_t place, std::string mistake) {
  is_bad_ = true;
  mistake_ = std::move(mistake);
  bad_ = {TokenKind::kBad, static_cast<uint32_t>(place), {}};
  return bad_;
}

Token Lexer::Make(TokenKind kind, size_t begin) {
  return {kind, static_cast<uint32_t>(begin), text_.substr(begin, place_ - begin)};
}

Token Lexer::Next() {
  if (is_bad_) return bad_;
  if (at_line_start_ && !MeasureIndent()) return bad_;
  if (indent_is_due_) {
    if (indent_ != indents_.back()) return IndentToken();
    indent_is_due_ = false;
  }
  if (!SkipBlanks()) return bad_;
  const char c = At(place_);
  if (place_ >= text_.size() || c == '\n') return LineEnd();
  line_is_open_ = true;
  if (c == '"' || c == '\'') return StringToken(place_);
  if (IsNameStart(c)) return NameToken();
  if (IsDigit(c)) return NumberToken();
  return SymbolToken();
}

// Skips empty lines and the blanks at the start of a line that is not empty, and notes how many there are.
bool Lexer::MeasureIndent() {
  for (;;) {
    const size_t begin = place_;
    if (!SkipBlanks()) return false;
    if (At(place_) != '\n') {
      indent_ = place_ >= text_.size() ? 0 : place_ - begin;
      break;
    }
    ++place_;
  }
  at_line_start_ = false;
  indent_is_due_ = true;
  return true;
}

// Skips blanks, comments, the end of a line that goes on, and the end of lines in brackets.
bool Lexer::SkipBlanks() {
  for (;; ++place_) {
    const char c = At(place_);
    if (c == '#') {
      place_ = std::min(text_.find('\n', place_), text_.size());
      if (At(place_) != '\n' || brackets_.empty()) return true;
    } else if (c == '\t') {
      Bad(place_, "a tab; use spaces");
      return false;
    } else if (c == '\r' && At(place_ + 1) != '\n') {
      Bad(place_, "a carriage return without a line feed");
      return false;
    } else if (c == '\\' && (At(place_ + 1) == '\n' || (At(place_ + 1) == '\r' && At(place_ + 2) == '\n'))) {
      place_ += At(place_ + 1) == '\r' ? 2 : 1;
    } else if (c != ' ' && c != '\r' && (c != '\n' || brackets_.empty())) {
      return true;
    }
  }
}

Token Lexer::IndentToken() {
  const size_t begin = place_;
  if (indent_ > indents_.back()) {
    indents_.push_back(indent_);
    indent_is_due_ = false;
    return Make(TokenKind::kIndent, begin);
  }
  if (std::ranges::find(indents_, indent_) == indents_.end()) {
    return Bad(begin, "the indentation is that of no line above");
  }
  indents_.pop_back();
  return Make(TokenKind::kDedent, begin);
}

Token Lexer::LineEnd() {
  const size_t begin = place_;
  if (begin >= text_.size()) {
    if (!brackets_.empty()) return Bad(begin, fmt::format("`{}` is missing at the end of the file", brackets_.back()));
    if (!line_is_open_) return Make(TokenKind::kEnd, begin);
  } else {
    ++place_;
  }
  line_is_open_ = false;
  at_line_start_ = true;
  return Make(TokenKind::kNewline, begin);
}

Token Lexer::NameToken() {
  const size_t begin = place_;
  while (IsNamePart(At(place_))) ++place_;
  const std::string_view name = text_.substr(begin, place_ - begin);
  const bool is_prefix = At(place_) == '"' || At(place_) == '\'';
  if (is_prefix && (name == "r" || name == "f" || name == "fr" || name == "rf")) return StringToken(begin);
  for (const auto& [word, kind] : kKeywords) {
    if (name == word) return Make(kind, begin);
  }
  if (is_prefix) return Bad(begin, fmt::format("`{}` is no prefix of a string; there are `r` and `f`", name));
  if (std::ranges::find(kReserved, name) != kReserved.end()) {
    return Bad(begin, fmt::format("`{}` is not part of the language of rules", name));
  }
  return Make(TokenKind::kName, begin);
}

Token Lexer::NumberToken() {
  const size_t begin = place_;
  while (IsNamePart(At(place_))) ++place_;
  if (At(place_) == '.') return Bad(begin, "a floating-point number; there are only whole numbers");
  return Make(TokenKind::kNumber, begin);
}

// Goes to the end of a string. Its escapes are looked at later.
Token Lexer::StringToken(size_t begin) {
  const char quote = At(place_);
  const bool is_triple = At(place_ + 1) == quote && At(place_ + 2) == quote;
  for (place_ += is_triple ? 3 : 1; place_ < text_.size(); ++place_) {
    const char c = At(place_);
    if (c == '\\') {
      ++place_;
      if (At(place_) == '\r' && At(place_ + 1) == '\n') ++place_;
    } else if (c == '\n' && !is_triple) {
      break;
    } else if (c == quote && (!is_triple || (At(place_ + 1) == quote && At(place_ + 2) == quote))) {
      place_ += is_triple ? 3 : 1;
      return Make(TokenKind::kString, begin);
    }
  }
  return Bad(begin, "the string has no end");
}

Token Lexer::SymbolToken() {
  const size_t begin = place_;
  if (const TokenKind kind = SingleKind(At(begin)); kind != TokenKind::kBad) {
    if (!TrackBracket(At(begin))) return bad_;
    ++place_;
    return Make(kind, begin);
  }
  const std::string_view rest = text_.substr(begin);
  for (const auto& [symbol, kind] : kSymbols) {
    if (!rest.starts_with(symbol)) continue;
    place_ += symbol.size();
    return Make(kind, begin);
  }
  return UnexpectedCharacter();
}

// Checks that a closing bracket fits the last opening one.
bool Lexer::TrackBracket(char c) {
  if (const char closing = ClosingOf(c); closing != '\0') brackets_.push_back(closing);
  if (!IsClosing(c)) return true;
  if (brackets_.empty()) {
    Bad(place_, fmt::format("`{}` closes nothing", c));
    return false;
  }
  if (brackets_.back() != c) {
    Bad(place_, fmt::format("`{}` where `{}` is expected", c, brackets_.back()));
    return false;
  }
  brackets_.pop_back();
  return true;
}

Token Lexer::UnexpectedCharacter() {
  const std::string_view rest = text_.substr(place_);
  if (rest.starts_with("\xef\xbb\xbf")) return Bad(place_, "a byte order mark");
  if (rest.starts_with('/')) return Bad(place_, "`/` makes floating-point numbers, which there are not; use `//`");
  const std::string_view character = rest.substr(0, std::max<size_t>(Utf8Length(rest), 1));
  if (character.size() == 1 && (character[0] < 0x20 || character[0] == 0x7f)) {
    return Bad(place_, fmt::format("an unexpected character with the code {}", static_cast<int>(character[0])));
  }
  return Bad(place_, fmt::format("an unexpected character `{}`", character));
}

bool TokenStream::NextIs(TokenKind kind) {
  if (!ahead_) ahead_ = lexer_.Next();
  return ahead_->kind == kind;
}

bool TokenStream::Take(TokenKind kind) {
  if (!Is(kind)) return false;
  Advance();
  return true;
}

Result<> TokenStream::Expect(TokenKind kind, std::string_view description) {
  if (!Take(kind)) return Unexpected(description);
  return {};
}

Result<std::string_view> TokenStream::ExpectName(std::string_view description) {
  const std::string_view name = token_.text;
  TRY_VOID(Expect(TokenKind::kName, description));
  return name;
}

std::unexpected<Error> TokenStream::Mistake(uint32_t offset, std::string message) {
  mistake_offset_ = offset;
  return Fail(ErrorKind::kInvalidParams, std::move(message));
}

std::unexpected<Error> TokenStream::Unexpected(std::string_view expected) {
  if (Is(TokenKind::kBad)) return Mistake(offset(), lexer_.mistake());
  return Mistake(offset(), fmt::format("expected {}, found {}", expected, Found(token_)));
}

Result<> Nesting::Add() {
  ++levels_;
  if (++tokens_.nesting_ <= kMaxNesting) return {};
  return tokens_.Mistake(tokens_.offset(), fmt::format("more than {} levels of nesting", kMaxNesting));
}

}  // namespace holdfast::starlark
