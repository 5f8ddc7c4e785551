#include "exec_policy/shell_words.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

using Words = std::vector<std::string>;

TEST(SplitWordsTest, SeparatesWordsAtBlanks) {
  EXPECT_THAT(SplitWords("git  push\torigin\nmain"), Optional(ElementsAre("git", "push", "origin", "main")));
  EXPECT_THAT(SplitWords(""), Optional(IsEmpty()));
  EXPECT_THAT(SplitWords(" \t\n"), Optional(IsEmpty()));
}

TEST(SplitWordsTest, KeepsEverythingInSingleQuotes) {
  EXPECT_THAT(SplitWords(R"(echo 'a  "b" \n #c')"), Optional(ElementsAre("echo", R"(a  "b" \n #c)")));
}

TEST(SplitWordsTest, EscapesOnlySomeCharactersInDoubleQuotes) {
  EXPECT_THAT(SplitWords(R"("\$ \` \" \\ \n")"), Optional(ElementsAre(R"($ ` " \ \n)")));
  EXPECT_THAT(SplitWords("\"a\\\nb\""), Optional(ElementsAre("ab")));
}

TEST(SplitWordsTest, JoinsQuotedAndPlainPartsOfOneWord) {
  EXPECT_THAT(SplitWords(R"(a'b c'"d"e)"), Optional(ElementsAre("ab cde")));
}

TEST(JoinWordsTest, MakesATextThatIsSplitIntoTheSameWords) {
  const Words words = {"git", "-m", "two words", "", "it's", "\"", "a\\", "#x", "\n\t", "$HOME", "é", "A=b,c"};
  EXPECT_THAT(SplitWords(JoinWords(words)), Optional(words)) << JoinWords(words);
  EXPECT_EQ(JoinWords(Words{"git", "commit", "--amend", "a b"}), "git commit --amend 'a b'");
}

TEST(SplitWordsTest, HasEmptyWordsWhereTheyAreQuoted) {
  EXPECT_THAT(SplitWords(R"(a '' "" b)"), Optional(ElementsAre("a", "", "", "b")));
}

TEST(SplitWordsTest, ABackslashTakesTheNextCharacterAsItIs) {
  EXPECT_THAT(SplitWords(R"(a\ b \' \\ \#c)"), Optional(ElementsAre("a b", "'", "\\", "#c")));
  EXPECT_THAT(SplitWords("a\\\nb"), Optional(ElementsAre("ab")));
}

TEST(SplitWordsTest, ACommentBeginsOnlyAtTheBeginningOfAWord) {
  EXPECT_THAT(SplitWords("ls # -l\n-a"), Optional(ElementsAre("ls", "-a")));
  EXPECT_THAT(SplitWords("ls a#b"), Optional(ElementsAre("ls", "a#b")));
  EXPECT_THAT(SplitWords("# only"), Optional(IsEmpty()));
}

TEST(SplitWordsTest, ExpandsNothing) {
  EXPECT_THAT(SplitWords("echo $HOME * ~; ls"), Optional(ElementsAre("echo", "$HOME", "*", "~;", "ls")));
}

TEST(SplitWordsTest, RefusesATextThatEndsInsideOfAQuote) {
  EXPECT_EQ(SplitWords("echo 'a"), std::nullopt);
  EXPECT_EQ(SplitWords("echo \"a"), std::nullopt);
  EXPECT_EQ(SplitWords("echo \"a\\"), std::nullopt);
  EXPECT_EQ(SplitWords("echo \\"), std::nullopt);
}

TEST(SplitScriptTest, SeparatesCommandsAtOperatorsAndLines) {
  EXPECT_THAT(SplitScript("a 1 && b 2 || c; d | e & f\ng"),
              Optional(ElementsAre(Words{"a", "1"}, Words{"b", "2"}, Words{"c"}, Words{"d"}, Words{"e"}, Words{"f"},
                                   Words{"g"})));
}

TEST(SplitScriptTest, FindsCommandsInGroupsAndSubstitutions) {
  EXPECT_THAT(SplitScript("(a); { b; }; x=`c d`"), Optional(ElementsAre(Words{"a"}, Words{"b"}, Words{"c", "d"})));
  EXPECT_THAT(SplitScript("echo $(a b)"), Optional(ElementsAre(Words{"echo", "$"}, Words{"a", "b"})));
}

TEST(SplitScriptTest, LeavesOutKeywordsAndAssignmentsInFrontOfACommand) {
  EXPECT_THAT(SplitScript("if a; then X=1 Y= b; else c; fi"),
              Optional(ElementsAre(Words{"a"}, Words{"b"}, Words{"c"})));
  EXPECT_THAT(SplitScript("'if' a"), Optional(ElementsAre(Words{"if", "a"})));
  EXPECT_THAT(SplitScript("1x=2 a"), Optional(ElementsAre(Words{"1x=2", "a"})));
}

TEST(SplitScriptTest, LeavesOutTheFilesOfRedirections) {
  EXPECT_THAT(SplitScript("a >out <in b >>c"), Optional(ElementsAre(Words{"a", "b"})));
  EXPECT_THAT(SplitScript("a >&2 b"), Optional(ElementsAre(Words{"a", "b"})));
}

TEST(SplitScriptTest, OperatorsInQuotesSeparateNothing) {
  EXPECT_THAT(SplitScript("echo 'a; b' \"c && d\" e\\;f"),
              Optional(ElementsAre(Words{"echo", "a; b", "c && d", "e;f"})));
}

TEST(SplitScriptTest, RefusesAScriptThatEndsInsideOfAQuote) { EXPECT_EQ(SplitScript("a; echo 'b"), std::nullopt); }

}  // namespace
}  // namespace holdfast::exec_policy
