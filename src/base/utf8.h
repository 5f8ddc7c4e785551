// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast {

// The length of the character at the start of `text`; 0 when there is none.
size_t Utf8Length(std::string_view text);

// Whether all of `text` is UTF-8. ASCII, which most text is, is looked at eight bytes at a time.
bool IsUtf8(std::string_view text);

}  // namespace holdfast
