#include "base/shown_text.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(ShownWordTest, QuotesOnlyWhatNeedsQuotes) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain-word_1.txt", "plain-word_1.txt"},
      {"/a/b:c=d,e+f@g%h", "/a/b:c=d,e+f@g%h"},
      {"", "''"},
      {"two words", "'two words'"},
      {"it's", R"('it'\''s')"},
      {"$HOME;rm", "'$HOME;rm'"},
      {"\xc3\xa4", "'\xc3\xa4'"},
  };
  for (const auto& [word, shown] : cases) EXPECT_EQ(ShownWord(word), shown);
}

TEST(ShownWordTest, ShowsWhatAUserCouldNotSee) {
  const std::pair<std::string, std::string> cases[] = {
      {"a\nb", R"($'a\nb')"},
      {"a\x1b[2K", R"($'a\x1b[2K')"},
      {"a`b", R"($'a\x60b')"},
      {"\xff", R"($'\xff')"},
      {"a\xe2\x80\xae"
       "b",
       R"($'a\xe2\x80\xaeb')"},
      {"\xc2\x9b", R"($'\xc2\x9b')"},
      {"it's\t\\", R"($'it\'s\x09\\')"},
  };
  for (const auto& [word, shown] : cases) EXPECT_EQ(ShownWord(word), shown);
}

TEST(ShownTextTest, KeepsWhatIsHarmless) {
  EXPECT_EQ(ShownText("It's `fine` \xc3\xa4 \\n 日本 🙂"), "It's `fine` \xc3\xa4 \\n 日本 🙂");
}

TEST(ShownTextTest, EscapesWhatCommandsATerminal) {
  EXPECT_EQ(ShownText("a\n\tb\x1b[2J\r\b\x7f"), R"(a\n\tb\x1b[2J\x0d\x08\x7f)");
  EXPECT_EQ(ShownText("\u009b2J"), R"(\u009b2J)");
  EXPECT_EQ(ShownText(std::string_view("\0", 1)), R"(\x00)");
}

TEST(ShownTextTest, EscapesWhatDeceivesTheReader) {
  EXPECT_EQ(ShownText("\u202a\u202b\u202c\u202d\u202e"), R"(\u202a\u202b\u202c\u202d\u202e)");
  EXPECT_EQ(ShownText("\u2066\u2067\u2068\u2069"), R"(\u2066\u2067\u2068\u2069)");
  EXPECT_EQ(ShownText("\u200e\u200f\u061c\u2028\u2029"), R"(\u200e\u200f\u061c\u2028\u2029)");
  EXPECT_EQ(ShownText("a\u200bb\u200cc\u200dd\u2060e\ufefff\u00ad"), R"(a\u200bb\u200cc\u200dd\u2060e\ufefff\u00ad)");
  EXPECT_EQ(ShownText("\U000e0041"), R"(\U000e0041)");
}

TEST(ShownTextTest, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(ShownText("\xff\xc3"), R"(\xff\xc3)");
  EXPECT_EQ(ShownText("\xed\xa0\x80\x9b"), R"(\xed\xa0\x80\x9b)");  // a surrogate, and C1 as one byte
}

TEST(ShownTextTest, ChangesNothingOnTheSecondTime) {
  const std::string once = ShownText("a\x1b\u202e\xff\\");
  EXPECT_EQ(ShownText(once), once);
}

TEST(ShownExcerptTest, ShortensALongText) {
  EXPECT_EQ(ShownExcerpt("abcdef", 6), "abcdef");
  EXPECT_EQ(ShownExcerpt("abcdefg", 6), "abcdef...");
  EXPECT_LT(ShownExcerpt(std::string(1 << 20, '\x1b')).size(), 1100u);
}

TEST(ShownJsonTest, EscapesWhatTheEncoderLeaves) {
  EXPECT_EQ(ShownJson("{\"a\":\"\u009b\u202e\x7f\u00e4\"}\n"), "{\"a\":\"\\u009b\\u202e\\u007f\u00e4\"}\n");
  EXPECT_EQ(ShownJson("\"\U000e0041\""), R"("\udb40\udc41")");
}

TEST(IsInvisibleTest, HoldsForEveryCharacterOfItsRangesAndNotForTheirNeighbours) {
  const std::pair<char32_t, char32_t> ranges[] = {
      {0x7f, 0xa0},     {0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
      {0x180b, 0x180f}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f}, {0x2800, 0x2800}, {0x3000, 0x3000},
      {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
  };
  for (const auto& [first, last] : ranges) {
    EXPECT_FALSE(IsInvisible(first - 1)) << uint32_t{first};
    for (char32_t character = first; character <= last; ++character) {
      EXPECT_TRUE(IsInvisible(character)) << uint32_t{character};
    }
    EXPECT_FALSE(IsInvisible(last + 1)) << uint32_t{last};
  }
}

// One word for each length of a character.
TEST(ShownWordTest, FindsInvisibleCharactersOfEveryLength) {
  EXPECT_EQ(ShownWord("a\xc2\xad"), R"($'a\xc2\xad')");
  EXPECT_EQ(ShownWord("a\xe3\x85\xa4"), R"($'a\xe3\x85\xa4')");
  EXPECT_EQ(ShownWord("a\xf3\xa0\x81\x81"), R"($'a\xf3\xa0\x81\x81')");
  EXPECT_EQ(ShownWord("\xf0\x9f\x98\x80"), "'\xf0\x9f\x98\x80'");
}

TEST(ShownCommandTest, ShowsHeadAndTailOfALongWord) {
  const std::string blanks(16'300, ' ');
  const std::vector<std::string> words = {"/bin/sh", "-c", "true;" + blanks + "rm -rf x", "last"};
  EXPECT_EQ(ShownCommand(words), "/bin/sh -c 'true;" + std::string(507, ' ') + "'[15545 bytes are not shown]'" +
                                     std::string(248, ' ') + "rm -rf x' last");
}

TEST(ShownVariablesTest, QuotesAndShortensAsForACommand) {
  EXPECT_EQ(ShownVariables(std::vector<std::pair<std::string, std::string>>{{"A", "b c"}, {"D e", ""}}),
            "A='b c' 'D e'=''");
  const std::vector<std::pair<std::string, std::string>> many(100, {"NAME", std::string(900, 'x')});
  EXPECT_LT(ShownVariables(many).size(), 20'000u);
  EXPECT_TRUE(ShownVariables(many).ends_with(" more variables are not shown]"));
}

TEST(ShownCommandTest, SplitsNoCharacter) {
  std::string word = "ab";
  for (int i = 0; i < 1000; ++i) word += "\xe2\x82\xac";
  const std::vector<std::string> words = {word};
  EXPECT_FALSE(ShownCommand(words).contains("$'"));
}

TEST(ShownCommandTest, TellsHowManyWordsAreMissing) {
  std::vector<std::string> words(100, std::string(1000, 'x'));
  words[0] = "echo";
  const std::string text = ShownCommand(words);
  EXPECT_LT(text.size(), 17'000u);
  EXPECT_TRUE(text.ends_with("xxx [83 more words are not shown]")) << text.substr(text.size() - 60);
}

// An attacker cannot write such brackets: in a word they are quoted.
TEST(ShownCommandTest, QuotesBracketsInWords) {
  const std::vector<std::string> words = {"echo", "[83 more words are not shown]"};
  EXPECT_EQ(ShownCommand(words), "echo '[83 more words are not shown]'");
}

}  // namespace
}  // namespace holdfast
