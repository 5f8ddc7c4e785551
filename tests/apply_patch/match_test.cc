#include "apply_patch/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apply_patch/parse.h"

namespace holdfast::apply_patch {
namespace {

using testing::HasSubstr;

Result<std::string> Try(std::string_view content, const std::string& chunks) {
  const std::string text = "*** Begin Patch\n*** Update File: f\n" + chunks + "*** End Patch";
  const auto patch = ParsePatch(text);
  if (!patch) return std::unexpected(patch.error());
  return ApplyChunks(content, std::get<UpdateFile>(patch->operations[0]).chunks);
}

std::string Applied(std::string_view content, const std::string& chunks) {
  const auto result = Try(content, chunks);
  return result ? *result : "FAILED: " + result.error().message;
}

std::string Refusal(std::string_view content, const std::string& chunks) {
  const auto result = Try(content, chunks);
  EXPECT_FALSE(result) << *result;
  return result ? "" : result.error().message;
}

TEST(ApplyChunksTest, ReplacesLinesWhereTheyStand) {
  EXPECT_EQ(Applied("a\nb\nc\n", "@@\n a\n-b\n+B\n c\n"), "a\nB\nc\n");
  EXPECT_EQ(Applied("a\nb\nc\n", "-b\n"), "a\nc\n");
  EXPECT_EQ(Applied("a\nb\n", "-a\n-b\n"), "");
  EXPECT_EQ(Applied("a\nb\n", " a\n+x\n+y\n"), "a\nx\ny\nb\n");
}

TEST(ApplyChunksTest, LooksForChunksInTheOrderOfTheFile) {
  EXPECT_EQ(Applied("x\na\nx\n", "@@\n a\n@@\n-x\n+y\n"), "x\na\ny\n");
  EXPECT_THAT(Refusal("b\na\n", "@@\n a\n@@\n-b\n"), HasSubstr("from line 3 on"));
}

TEST(ApplyChunksTest, LooksAtTheOriginalLinesOnly) {
  EXPECT_THAT(Refusal("a\nc\n", "@@\n-a\n+b\n@@\n-b\n+x\n"), HasSubstr("not in the file"));
}

TEST(ApplyChunksTest, StartsBehindTheHeader) {
  EXPECT_EQ(Applied("x\nh\nx\n", "@@ h\n-x\n+y\n"), "x\nh\ny\n");
  EXPECT_EQ(Applied("x\n  h \nx\n", "@@ h\n-x\n+y\n"), "x\n  h \ny\n");
  EXPECT_EQ(Refusal("x\nh(1)\nx\n", "@@\n x\n@@ h\n-x\n+y\n"),
            "line 5 of the patch: `@@ h`: the file has no such line at or after line 2");
}

TEST(ApplyChunksTest, PutsMereAdditionsAtTheEnd) {
  EXPECT_EQ(Applied("a\nb\n", "@@\n+x\n"), "a\nb\nx\n");
  EXPECT_EQ(Applied("a\nb\n", "@@ a\n+x\n"), "a\nb\nx\n");
  EXPECT_EQ(Applied("", "+x\n"), "x\n");
  EXPECT_THAT(Refusal("a\n", "@@ b\n+x\n"), HasSubstr("`@@ b`"));
}

TEST(ApplyChunksTest, KeepsTheOrderOfThePatchAtTheEnd) {
  EXPECT_EQ(Applied("a\nb\n", "@@\n+1\n@@\n-b\n+2\n@@\n+3\n@@\n \n+4\n"), "a\n2\n1\n3\n\n4\n");
  EXPECT_EQ(Applied("a\nb\n", "@@\n+1\n@@\n-a\n+A\n b\n+x\n"), "A\nb\n1\nx\n");
}

TEST(ApplyChunksTest, MatchesTheVeryEndIfAskedTo) {
  EXPECT_EQ(Applied("x\na\nx\n", "-x\n+y\n*** End of File\n"), "x\na\ny\n");
  EXPECT_EQ(Refusal("x\na\n", "-x\n*** End of File\n"),
            "the file does not end with the lines of the chunk at line 3 of the patch:\n  x");
  EXPECT_EQ(Refusal("a\nb\n", "@@\n-a\n-b\n@@\n b\n*** End of File\n"),
            "after line 2 the file does not end with the lines of the chunk at line 6 of the patch:\n  b");
}

TEST(ApplyChunksTest, ForgivesOneBlankLineBehindAChunk) {
  EXPECT_EQ(Applied("a\nb\n", "-a\n+A\n\n"), "A\nb\n");
  Refusal("a\nb\n", "-a\n+A\n\n\n");
  EXPECT_EQ(Applied("a\nb\n", " a\n \n+x\n"), "a\n\nx\nb\n");
  EXPECT_EQ(Applied("a\nb\n", " a\n \n+x\n+\n"), "a\n\nx\nb\n");
  EXPECT_EQ(Applied("a\n\nb\n", " a\n \n-\n"), "a\nb\n");
  EXPECT_EQ(Applied("a\nb\n", "@@ a\n \n+x\n"), "a\n\nx\nb\n");
  EXPECT_EQ(Applied("", " \n"), "");
}

TEST(ApplyChunksTest, KeepsTheBytesOfContextThatMatchedLoosely) {
  EXPECT_EQ(Applied("a \u2014 b\t\nc\n", " a - b\n-c\n+C\n"), "a \u2014 b\t\nC\n");
}

TEST(ApplyChunksTest, GivesAddedLinesTheEndOfTheFirstLine) {
  EXPECT_EQ(Applied("a\r\nb\n", "-b\n+B\n"), "a\r\nB\r\n");
  EXPECT_EQ(Applied("a\nb\r\nc\r\n", "-b\n+B\n"), "a\nB\nc\r\n");
  EXPECT_EQ(Applied("a\rb\r", "-b\n+B\n"), "a\rB\r");
  EXPECT_EQ(Applied("a\r\r\nb", " b\n"), "a\r\r\nb\r");
}

TEST(ApplyChunksTest, EndsTheLastLine) {
  EXPECT_EQ(Applied("a\nb", " a\n"), "a\nb\n");
  EXPECT_EQ(Applied("a\r\nb", " a\n"), "a\r\nb\r\n");
  EXPECT_EQ(Applied("a", "@@\n+b\n"), "a\nb\n");
}

TEST(ApplyChunksTest, CountsAByteOrderMarkToTheFirstLine) {
  Refusal("\ufeffa\n", "-a\n");
  EXPECT_EQ(Applied("\ufeffa\nb\n", "-b\n"), "\ufeffa\n");
}

TEST(ApplyChunksTest, ShowsTheLinesThatAreMissing) {
  const std::string message = Refusal("a\n", "@@\n one\n-two\n+three\n");
  EXPECT_THAT(message, HasSubstr("chunk at line 3 of the patch"));
  EXPECT_THAT(message, HasSubstr("\n  one\n  two"));
  EXPECT_THAT(message, testing::Not(HasSubstr("three")));
}

TEST(ApplyChunksTest, CutsLongLinesInItsMessagesBetweenCharacters) {
  const std::string shown(199, 'x'), line = shown + "\u20ac and more";
  EXPECT_THAT(Refusal("a\n", " " + line + "\n"), HasSubstr("\n  " + shown + "..."));
  EXPECT_THAT(Refusal("a\n", "@@ " + line + "\n a\n"), HasSubstr("`@@ " + shown + "...`"));
}

}  // namespace
}  // namespace holdfast::apply_patch
