#include "base/printable.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(PrintableExcerptTest, KeepsWhatIsHarmless) {
  EXPECT_EQ(PrintableExcerpt("naïve \\n 日本 🙂"), "naïve \\n 日本 🙂");
}

TEST(PrintableExcerptTest, EscapesWhatCommandsATerminal) {
  EXPECT_EQ(PrintableExcerpt("a\n\tb\x1b[2J\r\x7f"), "a\\n\\tb\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(PrintableExcerpt("\u009b2J"), "\\u009b2J");
  EXPECT_EQ(PrintableExcerpt(std::string_view("\0", 1)), "\\x00");
}

TEST(PrintableExcerptTest, EscapesWhatDeceivesTheReader) {
  EXPECT_EQ(PrintableExcerpt("a\u202eb\u2066c\u200fd\u2028"), "a\\u202eb\\u2066c\\u200fd\\u2028");
}

TEST(PrintableExcerptTest, EscapesBytesThatAreNotUtf8) { EXPECT_EQ(PrintableExcerpt("\xff\xc3"), "\\xff\\xc3"); }

TEST(PrintableExcerptTest, ShortensALongText) {
  EXPECT_EQ(PrintableExcerpt("abcdef", 6), "abcdef");
  EXPECT_EQ(PrintableExcerpt("abcdefg", 6), "abcdef...");
  EXPECT_LT(PrintableExcerpt(std::string(1 << 20, '\x1b')).size(), 1100u);
}

}  // namespace
}  // namespace holdfast
