// The tokens of a program.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::starlark {

enum class TokenKind {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kBad,  // a mistake, which the lexer describes
  kName,
  kNumber,
  kString,
  // Keywords.
  kAnd,
  kBreak,
  kContinue,
  kDef,
  kElif,
  kElse,
  kFalse,
  kFor,
  kIf,
  kIn,
  kLambda,
  kNone,
  kNot,
  kOr,
  kPass,
  kReturn,
  kTrue,
  // Symbols.
  kOpenParen,
  kCloseParen,
  kOpenBracket,
  kCloseBracket,
  kOpenBrace,
  kCloseBrace,
  kComma,
  kColon,
  kSemicolon,
  kDot,
  kArrow,
  kAssign,
  kEqual,
  kNotEqual,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kPlus,
  kMinus,
  kStar,
  kDoubleStar,
  kDoubleSlash,
  kPercent,
  kPipe,
  kCaret,
  kAmpersand,
  kTilde,
  kShiftLeft,
  kShiftRight,
  kPlusAssign,
  kMinusAssign,
  kStarAssign,
  kDoubleSlashAssign,
  kPercentAssign,
  kPipeAssign,
  kCaretAssign,
  kAmpersandAssign,
  kShiftLeftAssign,
  kShiftRightAssign,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t offset = 0;
  std::string_view text = {};  // a string includes its prefix and quotes
};

}  // namespace holdfast::starlark
