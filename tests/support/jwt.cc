#include "support/jwt.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace holdfast::support {

std::string Base64Url(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const int size =
      ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), data, static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  text.resize(text.find_last_not_of('=') + 1);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

std::string SignedJwt(std::string_view secret, const JwtText& text) {
  const std::string signed_text = Base64Url(text.header) + "." + Base64Url(text.payload);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac;
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(), mac.data(), &size);
  return signed_text + "." + Base64Url({reinterpret_cast<const char*>(mac.data()), size});
}

}  // namespace holdfast::support
