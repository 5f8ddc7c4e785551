#include "base/random_id.h"

#include <array>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

// Returns whether `id` has the given shape. In a shape, x stands for any hexadecimal digit, y for one of 89ab (the
// variant of the UUID), and any other character for itself.
bool Fits(std::string_view id, std::string_view shape) {
  if (id.size() != shape.size()) return false;
  for (size_t i = 0; i < id.size(); ++i) {
    const std::string_view allowed = shape[i] == 'x'   ? "0123456789abcdef"
                                     : shape[i] == 'y' ? "89ab"
                                                       : shape.substr(i, 1);
    if (!allowed.contains(id[i])) return false;
  }
  return true;
}

TEST(RandomSecretTest, IsLongAndDiffersEachTime) {
  const std::string secret = RandomSecret();
  EXPECT_GE(secret.size() * 4, 128u);
  EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos) << secret;
  EXPECT_NE(secret, RandomSecret());
}

TEST(RandomSecretTest, ComparesAllOfASecret) {
  EXPECT_TRUE(IsSameSecret("word", "word"));
  for (const char* other : {"", "wor", "words", "Word", "worD"}) EXPECT_FALSE(IsSameSecret(other, "word")) << other;
}

TEST(RandomUuidTest, HasTheShapeOfVersionFour) {
  for (int i = 0; i < 1000; ++i) {
    const std::string id = RandomUuid();
    ASSERT_TRUE(Fits(id, "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx")) << id;
  }
}

TEST(RandomUuidTest, NeverRepeats) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(seen.insert(RandomUuid()).second);
}

// A digit that never changes would come from bytes that were not filled.
TEST(RandomUuidTest, VariesEveryRandomDigit) {
  std::array<std::set<char>, 36> digits;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = RandomUuid();
    for (size_t at = 0; at < digits.size(); ++at) digits[at].insert(id[at]);
  }
  const std::string_view shape = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (size_t at = 0; at < digits.size(); ++at) {
    EXPECT_EQ(digits[at].size(), shape[at] == 'x' ? 16u : shape[at] == 'y' ? 4u : 1u) << "digit " << at;
  }
}

}  // namespace
}  // namespace holdfast
