#include "auth/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::auth {
namespace {

std::string PlainHmac(std::string_view text, std::string_view secret) {
  std::string signature(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(signature.data()), &size);
  signature.resize(size);
  return signature;
}

// The second test case of RFC 4231.
TEST(HmacTest, AgreesWithTheStandard) {
  const std::string signature = HmacSha256("what do ya want for nothing?", "Jefe");
  std::string hex;
  for (const char c : signature) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  EXPECT_EQ(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

// The secret is padded up to a block of 64 bytes, and replaced by its digest beyond it.
TEST(HmacTest, AgreesWithOpenSslForSecretsOfEveryLength) {
  for (size_t size = 0; size <= 130; ++size) {
    const std::string secret(size, static_cast<char>(0x80 + size));
    EXPECT_EQ(HmacSha256("signed text", secret), PlainHmac("signed text", secret)) << size;
  }
}

}  // namespace
}  // namespace holdfast::auth
