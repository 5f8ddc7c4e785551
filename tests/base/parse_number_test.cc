#include "base/parse_number.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(ParseNumberTest, TakesANumberThatIsAllOfTheText) {
  EXPECT_EQ(ParseNumber<uint16_t>("65535"), 65535);
  EXPECT_EQ(ParseNumber<uint16_t>("0"), 0);
  EXPECT_EQ(ParseNumber<int64_t>("-7"), -7);
  EXPECT_EQ(ParseNumber<uint64_t>("ff", 16), 255u);
}

TEST(ParseNumberTest, RefusesWhatIsLeftOver) {
  for (const auto* text : {"", " 1", "1 ", "+1", "1.", "x", "0x1"})
    EXPECT_EQ(ParseNumber<int>(text), std::nullopt) << text;
}

TEST(ParseNumberTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(ParseNumber<uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(ParseNumber<uint16_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace holdfast
