#include "auth/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

namespace holdfast::auth {

std::string HmacSha256(std::string_view text, std::string_view secret) {
  std::string signature(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  const auto* const made = ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                                  reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                  reinterpret_cast<unsigned char*>(signature.data()), &size);
  CHECK(made != nullptr);  // it fails only without memory or without SHA-256
  signature.resize(size);
  return signature;
}

}  // namespace holdfast::auth
