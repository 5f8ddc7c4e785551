// Signed tokens for tests, made without the code of the product.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::support {

std::string Base64Url(std::string_view bytes);

struct JwtText {
  std::string header = R"({"alg":"HS256","typ":"JWT"})";
  std::string payload = R"({"exp":4102444800})";  // valid until 2100
};

// Returns the token with the signature that the secret gives it, by HMAC-SHA-256 whatever the header says.
std::string SignedJwt(std::string_view secret, const JwtText& text);

}  // namespace holdfast::support
