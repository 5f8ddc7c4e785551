// Base64 with the alphabet for URLs and without padding (RFC 4648, section 5). Decoding is strict: for each byte string
// exactly one text is accepted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

std::string Base64UrlEncode(std::string_view bytes);
std::optional<std::string> Base64UrlDecode(std::string_view text);

}  // namespace holdfast
