#include "auth/capability_token.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::auth {
namespace {

// The digest of "abc", from the examples of FIPS 180-2.
constexpr std::string_view kDigest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view kUpperDigest = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";

TEST(CapabilityTokenTest, AdmitsTheSameTextOnly) {
  const CapabilityToken token = CapabilityToken::OfText("abc");
  EXPECT_TRUE(token.Check("abc").has_value());
  for (const std::string_view other : {"", "ab", "abcd", "ABC", "abd", kDigest.data()}) {
    EXPECT_EQ(token.Check(other), std::unexpected(Refusal::kBadToken)) << other;
  }
}

TEST(CapabilityTokenTest, IsKnownByItsDigestInAnyCase) {
  for (const std::string_view digest : {kDigest, kUpperDigest}) {
    const auto token = CapabilityToken::OfDigest(digest);
    ASSERT_TRUE(token.has_value()) << digest;
    EXPECT_TRUE(token->Check("abc").has_value());
    EXPECT_FALSE(token->Check(digest).has_value());
  }
}

TEST(CapabilityTokenTest, NeedsAWholeDigest) {
  const std::string digest(kDigest);
  for (const std::string& text : {std::string(), digest.substr(1), digest + "0", "g" + digest.substr(1),
                                  " " + digest.substr(1), "0x" + digest.substr(2)}) {
    EXPECT_FALSE(CapabilityToken::OfDigest(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace holdfast::auth
