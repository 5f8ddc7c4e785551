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

}  // namespace
}  // namespace holdfast
