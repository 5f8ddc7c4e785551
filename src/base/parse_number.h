// ParseNumber parses a text that is a number and nothing else: it has no blanks, no sign `+` and no other characters.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace holdfast {

// Returns nothing if the text is not a number, or a number that T cannot hold.
template <std::integral T>
std::optional<T> ParseNumber(std::string_view text, int base = 10) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace holdfast
