#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast {
namespace {

TEST(Utf8Test, MeasuresOneCharacter) {
  EXPECT_EQ(Utf8Length("ab"), 1u);
  EXPECT_EQ(Utf8Length("\xc3\xa9x"), 2u);
  EXPECT_EQ(Utf8Length("\xe2\x82\xac"), 3u);
  EXPECT_EQ(Utf8Length("\xf0\x9f\x98\x80"), 4u);
}

TEST(Utf8Test, FindsNoCharacterInOtherBytes) {
  for (const char* bad : {"", "\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3x", "\xe0\x9f\x80", "\xe2\x82",
                          "\xed\xa0\x80", "\xf0\x8f\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(Utf8Length(bad), 0u) << testing::PrintToString(bad);
  }
}

// The function checks several bytes at once, so the invalid byte is tried at every position.
TEST(Utf8Test, FindsABadByteWhereverItStands) {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      EXPECT_TRUE(IsUtf8(text));
      text[at] = '\xff';
      EXPECT_FALSE(IsUtf8(text)) << at << " of " << size;
    }
  }
}

TEST(Utf8Test, TakesCharactersWhereverTheyStand) {
  for (size_t before = 0; before < 20; ++before) {
    const std::string text = std::string(before, 'a') + "\xe2\x82\xac" + std::string(9, 'b');
    EXPECT_TRUE(IsUtf8(text)) << before;
    EXPECT_FALSE(IsUtf8(text.substr(0, before + 2))) << before;
  }
  EXPECT_TRUE(IsUtf8(""));
}

TEST(IncompleteTailTest, CountsTheBytesOfAnUnfinishedCharacter) {
  const std::pair<const char*, size_t> cases[] = {
      {"", 0},
      {"a", 0},
      {"\xc3", 1},
      {"a\xe2\x82", 2},
      {"\xe2\x82\xac", 0},
      {"\xf0\x9f", 2},
      {"\xf0\x9f\x98", 3},
      {"\xf0\x9f\x98\x80", 0},
      {"\xff", 0},
      {"\x80\x80\x80\x80", 0},
  };
  for (const auto& [text, tail] : cases) EXPECT_EQ(IncompleteTail(text), tail) << testing::PrintToString(text);
}

TEST(Utf8CharacterTest, DecodesEachLength) {
  EXPECT_EQ(Utf8Character("a"), U'a');
  EXPECT_EQ(Utf8Character("\xc2\xad"), char32_t{0xad});
  EXPECT_EQ(Utf8Character("\xe2\x80\xae"), char32_t{0x202e});
  EXPECT_EQ(Utf8Character("\xf3\xa0\x81\xbf"), char32_t{0xe007f});
}

}  // namespace
}  // namespace holdfast
