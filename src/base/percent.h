// The percent escapes of URLs.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// Replaces the escapes. A percent sign without two hexadecimal digits stays as it is.
std::string PercentDecoded(std::string_view text);

// Returns the text as a part of a path or of a query: each byte is an escape that is not a letter, a digit or one of
// the characters -._~
std::string PercentEncoded(std::string_view text);

}  // namespace holdfast
