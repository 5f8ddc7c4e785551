// A number that is all of a text: no blank, sign `+` or other character is left over.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace holdfast {

// Absent when the text is no number, or one that does not fit.
template <std::integral T>
std::optional<T> ParseNumber(std::string_view text, int base = 10) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace holdfast
