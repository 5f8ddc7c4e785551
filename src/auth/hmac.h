// The signature of a text by a shared secret: HMAC with SHA-256 (RFC 2104).
#pragma once

#include <string>
#include <string_view>

namespace holdfast::auth {

// Returns the 32 bytes of the signature.
std::string HmacSha256(std::string_view text, std::string_view secret);

}  // namespace holdfast::auth
