#include "apply_patch/characters.h"

#include <gtest/gtest.h>

namespace holdfast::apply_patch {
namespace {

TEST(CharactersTest, TrimsWhatUnicodeCallsWhitespace) {
  EXPECT_EQ(Trim(" \t\v\f\r\n a b \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"), "a b");
  EXPECT_EQ(TrimStart("\u3000 a "), "a ");
  EXPECT_EQ(TrimEnd(" a \u00a0"), " a");
  EXPECT_EQ(Trim("\u2003 \t"), "");
}

TEST(CharactersTest, KeepsInvisibleCharactersThatAreNoWhitespace) {
  EXPECT_EQ(Trim("\ufeff"), "\ufeff");
  EXPECT_EQ(Trim("\u200b"), "\u200b");
  EXPECT_EQ(Trim("\u00e0"), "\u00e0");  // its last byte is also the last byte of a no-break space
}

TEST(CharactersTest, MakesPunctuationPlain) {
  EXPECT_EQ(FoldPunctuation("\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-------");
  EXPECT_EQ(FoldPunctuation("\u2018\u2019\u201a\u201b"), "''''");
  EXPECT_EQ(FoldPunctuation("\u201c\u201d\u201e\u201f"), "\"\"\"\"");
  EXPECT_EQ(FoldPunctuation("a\u00a0b\u2002c\u200ad\u202fe\u205ff\u3000g"), "a b c d e f g");
}

TEST(CharactersTest, ShortensBetweenCharacters) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc...");
  EXPECT_EQ(Shortened("a\u20acb", 1), "a...");
  EXPECT_EQ(Shortened("a\u20acb", 3), "a...");
  EXPECT_EQ(Shortened("a\u20acb", 4), "a\u20ac...");
  EXPECT_EQ(Shortened("\u20ac", 2), "...");
}

TEST(CharactersTest, KeepsEverythingElse) {
  EXPECT_EQ(FoldPunctuation("a\u2026\u00e9\u2001\u200b\u2016\u2017"), "a\u2026\u00e9\u2001\u200b\u2016\u2017");
}

}  // namespace
}  // namespace holdfast::apply_patch
