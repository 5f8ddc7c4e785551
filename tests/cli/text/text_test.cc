// Tests of the small functions that turn values into text and back.
#include <chrono>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text/byte_count.h"
#include "cli/text/duration.h"
#include "cli/text/run_name.h"
#include "cli/text/table.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(DurationTest, ReadsNumbersWithUnits) {
  EXPECT_EQ(*ParseDuration("90s"), 90s);
  EXPECT_EQ(*ParseDuration("5m"), 5min);
  EXPECT_EQ(*ParseDuration("250ms"), 250ms);
  EXPECT_EQ(*ParseDuration("1h30m"), 90min);
  EXPECT_EQ(*ParseDuration("2d1ms"), 48h + 1ms);
  EXPECT_EQ(*ParseDuration("7"), 7s);
  EXPECT_EQ(*ParseDuration("0"), 0s);
}

TEST(DurationTest, RefusesEverythingElse) {
  for (const char* text : {"", "s", "5x", "m5", "5m5", "1.5s", "-1s", "+1s", " 1s", "1s ", "1m1h", "1s1s", "99999d",
                           "99999999999999999999s", "9223372036854775807s", "3650d1s"}) {
    const auto duration = ParseDuration(text);
    ASSERT_FALSE(duration.has_value()) << text;
    EXPECT_THAT(duration.error().message, HasSubstr("is not a time")) << text;
  }
}

TEST(DurationTest, WritesTheTwoLargestUnits) {
  EXPECT_EQ(DurationText(0ms), "0ms");
  EXPECT_EQ(DurationText(999ms), "999ms");
  EXPECT_EQ(DurationText(1999ms), "1s");
  EXPECT_EQ(DurationText(185s), "3m 5s");
  EXPECT_EQ(DurationText(2h), "2h");
  EXPECT_EQ(DurationText(50h + 59s), "2d 2h");
}

TEST(ByteCountTest, ShowsThreeDigitsAndAUnit) {
  EXPECT_EQ(ByteCountText(0), "0 B");
  EXPECT_EQ(ByteCountText(999), "999 B");
  EXPECT_EQ(ByteCountText(1000), "1.0 KiB");
  EXPECT_EQ(ByteCountText(1536), "1.5 KiB");
  EXPECT_EQ(ByteCountText(100 << 20), "100 MiB");
  EXPECT_EQ(ByteCountText(UINT64_MAX), "16.0 EiB");
}

TEST(RunNameTest, RandomNamesAreReadableAndRarelyTheSame) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const std::string name = RandomRunName();
    EXPECT_THAT(name, MatchesRegex("[a-z]+-[a-z]+-[0-9]+"));
    EXPECT_TRUE(CheckRunName(name).has_value());
    names.insert(name);
  }
  EXPECT_GT(names.size(), 90u);
}

TEST(RunNameTest, RefusesNamesThatASessionCannotHave) {
  EXPECT_TRUE(CheckRunName("web-1.2_x").has_value());
  EXPECT_TRUE(CheckRunName(std::string(64, 'a')).has_value());
  for (const std::string& name : {std::string(), std::string(65, 'a'), std::string("a b"), std::string("-a"),
                                  std::string(".a"), std::string("a/b"), std::string("\xc3\xa4")}) {
    EXPECT_FALSE(CheckRunName(name).has_value()) << name;
  }
}

TEST(RunNameTest, KnowsTheNamesThatOtherClientsMayGive) {
  for (const char* name : {"web", "-a", "_a", ".a", "..."}) EXPECT_TRUE(IsRunName(name)) << name;
  for (const char* name : {"", ".", "..", "a b", "a\n", "a/b", "$(id)", "\xc3\xa4"})
    EXPECT_FALSE(IsRunName(name)) << name;
}

TEST(TextTableTest, ShowsCellsOfOthersAsEscapes) {
  TextTable table;
  table.Add({"a\n\x1b[2J\u202e", "b"});
  table.Add({"c", "d\x1b"}, kBlue);
  EXPECT_EQ(table.Text(), "a\\n\\x1b[2J\\u202e  b\nc                 \x1b[34md\\x1b\x1b[0m\n");
}

TEST(TextTableTest, AlignsColumnsByCharacters) {
  TextTable table;
  table.Add({"NAME", "STATE"});
  table.Add({"b\xc3\xa4r", "runs"});
  table.Add({"longer", "x"});
  EXPECT_EQ(table.Text(), "NAME    STATE\nb\xc3\xa4r     runs\nlonger  x\n");
}

}  // namespace
}  // namespace holdfast::cli
