// The values of string tokens.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::starlark {

// A string token taken apart. The body is what stands between the quotes.
struct StringLiteral {
  bool is_raw = false, is_format = false;
  std::string_view body;
};

StringLiteral SplitString(std::string_view token);

// A mistake in a body, at an offset in the whole token or body that was given.
struct LiteralMistake {
  size_t offset = 0;
  std::string message;
};

// Returns the text that a piece of a body means: escapes are replaced, unless the string is raw, and a line ends with a
// line feed.
std::expected<std::string, LiteralMistake> DecodeString(std::string_view body, bool is_raw);

// A part of an f-string: a piece of its body, or a name in braces.
struct FormatPart {
  enum class Kind { kText, kStr, kRepr };

  Kind kind = Kind::kText;
  size_t offset = 0;  // in the body
  std::string text = {};
};

// Takes the body of an f-string apart. Only names can stand in braces, with `!r` or `!s` behind them.
std::expected<std::vector<FormatPart>, LiteralMistake> SplitFormat(const StringLiteral& literal);

}  // namespace holdfast::starlark
