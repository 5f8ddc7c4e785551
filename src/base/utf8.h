// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast {

// Returns the number of bytes of the character at the start of `text`, or 0 if `text` does not start with a valid one.
size_t Utf8Length(std::string_view text);

// Returns the character whose bytes `bytes` are: exactly one, and valid.
char32_t Utf8Character(std::string_view bytes);

// Returns the number of bytes at the end of `text` that are the beginning of a character which is not complete.
size_t IncompleteTail(std::string_view text);

// Returns whether all of `text` is UTF-8. ASCII, the most frequent case, is checked eight bytes at a time.
bool IsUtf8(std::string_view text);

}  // namespace holdfast
