#include "base/percent.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(PercentTest, DecodesEscapes) {
  EXPECT_EQ(PercentDecoded("a%40b%2f"), "a@b/");
  EXPECT_EQ(PercentDecoded("%41"), "A");
}

TEST(PercentTest, LeavesEverythingElse) {
  EXPECT_EQ(PercentDecoded("%4%zz%+1%41%"), "%4%zz%+1A%");
  EXPECT_EQ(PercentDecoded(""), "");
}

TEST(PercentEncodedTest, EscapesAllButUnreservedCharacters) {
  EXPECT_EQ(PercentEncoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncoded("a b/ü?&%"), "a%20b%2F%C3%BC%3F%26%25");
  EXPECT_EQ(PercentDecoded(PercentEncoded("a b/ü?&%")), "a b/ü?&%");
}

}  // namespace
}  // namespace holdfast
