#include "auth/hmac.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace holdfast::auth {
namespace {

// The second test case of RFC 4231.
TEST(HmacTest, AgreesWithTheStandard) {
  const std::string signature = HmacSha256("what do ya want for nothing?", "Jefe");
  std::string hex;
  for (const char c : signature) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  EXPECT_EQ(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace holdfast::auth
