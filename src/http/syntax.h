// Classes of bytes in HTTP messages, and comparisons that ignore case.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/ascii.h"

namespace holdfast::http {

constexpr bool IsAlphabetic(char c) { return AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAlphanumeric(char c) { return IsAlphabetic(c) || IsDigit(c); }
constexpr bool IsHexDigit(char c) { return IsDigit(c) || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'f'); }
constexpr bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
constexpr bool IsBlank(char c) { return c == ' ' || c == '\t'; }

constexpr bool IsTokenByte(char c) { return IsAlphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c); }

constexpr bool IsToken(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsTokenByte); }

constexpr bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, AsciiLower, AsciiLower);
}

constexpr bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && EqualsIgnoringCase(text.substr(0, prefix.size()), prefix);
}

// Returns the text without the blanks and line ends around it.
constexpr std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n";
  const size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

}  // namespace holdfast::http
