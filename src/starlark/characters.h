// Characters: those of names, and characters as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::starlark {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }
constexpr bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }
bool IsName(std::string_view text);

// Appends a character to a text in UTF-8. Returns false if there is no character with that number.
bool AppendCharacter(std::string& text, uint32_t character);

// The functions below need valid UTF-8.
size_t CountCharacters(std::string_view text);
uint32_t FirstCharacter(std::string_view text);
// Returns the offset of the character with that index, or the size of the text if it has fewer characters.
size_t OffsetOfCharacter(std::string_view text, size_t index);

}  // namespace holdfast::starlark
