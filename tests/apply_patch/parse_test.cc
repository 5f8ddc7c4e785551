#include "apply_patch/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::apply_patch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string Framed(const std::string& body) { return "*** Begin Patch\n" + body + "*** End Patch"; }

Patch Parsed(const std::string& text) {
  static std::string kept;  // the patch refers to it
  kept = text;
  auto patch = ParsePatch(kept);
  EXPECT_TRUE(patch) << text << "\n" << patch.error().message;
  return patch ? *patch : Patch{};
}

std::string Refusal(const std::string& text) {
  const auto patch = ParsePatch(text);
  EXPECT_FALSE(patch) << text;
  return patch ? "" : patch.error().message;
}

UpdateFile Update(const std::string& lines) {
  const Patch patch = Parsed(Framed("*** Update File: f\n" + lines));
  if (patch.operations.size() != 1) return {};
  return std::get<UpdateFile>(patch.operations[0]);
}

PatchLine Context(std::string_view text) { return {LineKind::kContext, text}; }
PatchLine Removed(std::string_view text) { return {LineKind::kRemoved, text}; }
PatchLine Added(std::string_view text) { return {LineKind::kAdded, text}; }

TEST(ParsePatchTest, ReadsEachOperation) {
  const Patch patch = Parsed(Framed(
      "*** Add File: a b\n+one\n+\n*** Delete File: c\n*** Update File: d\n*** Move to: e\n@@ h\n x\n-y\n+z\n\n"));
  ASSERT_EQ(patch.operations.size(), 3u);
  const auto& add = std::get<AddFile>(patch.operations[0]);
  EXPECT_EQ(add.path, "a b");
  EXPECT_EQ(add.content, "one\n\n");
  EXPECT_EQ(std::get<DeleteFile>(patch.operations[1]).path, "c");
  const auto& update = std::get<UpdateFile>(patch.operations[2]);
  EXPECT_EQ(update.path, "d");
  EXPECT_EQ(update.move_to, "e");
  ASSERT_EQ(update.chunks.size(), 1u);
  EXPECT_EQ(update.chunks[0].header, "h");
  EXPECT_EQ(update.chunks[0].line_number, 8u);
  EXPECT_THAT(update.chunks[0].lines, ElementsAre(Context("x"), Removed("y"), Added("z"), Context("")));
}

TEST(ParsePatchTest, IgnoresWhitespaceAroundThePatchAndItsFrame) {
  EXPECT_EQ(Parsed("\n\u00a0 *** Begin Patch \n*** Delete File: a\n\t*** End Patch\n\n").operations.size(), 1u);
}

TEST(ParsePatchTest, NamesTheFrameThatIsMissing) {
  EXPECT_THAT(Refusal(""), HasSubstr("`*** Begin Patch`"));
  EXPECT_THAT(Refusal("*** Begin Patch"), HasSubstr("last line of the patch is not `*** End Patch`"));
  EXPECT_THAT(Refusal("<<EOF\n*** Begin Patch\nEOF"), HasSubstr("last line of the patch is not `*** End Patch`"));
  EXPECT_THAT(Refusal("*** Begin Patch\n*** Delete File: a"), HasSubstr("`*** End Patch`"));
  EXPECT_THAT(Refusal("\n\nx\n" + Framed("*** Delete File: a\n")), StartsWith("line 3 of the patch"));
  EXPECT_THAT(Refusal("\ufeff" + Framed("*** Delete File: a\n")), HasSubstr("`*** Begin Patch`"));
}

TEST(ParsePatchTest, TakesAHeredocAround) {
  for (const char* first : {"<<EOF", "<<'EOF'", "<<\"EOF\""}) {
    const std::string text = std::string(first) + "\n" + Framed("*** Delete File: a\n") + "\nEOF\n";
    EXPECT_EQ(Parsed(text).operations.size(), 1u) << first;
  }
  for (const char* first : {"<<-EOF", "<<END", "cat <<EOF", "<< EOF"}) {
    Refusal(std::string(first) + "\n" + Framed("*** Delete File: a\n") + "\nEOF\n");
  }
  EXPECT_THAT(Refusal("<<EOF\n\n" + Framed("*** Delete File: a\n") + "\nEOF"), StartsWith("line 2 of the patch"));
}

TEST(ParsePatchTest, DropsCarriageReturnsAtTheEndsOfLines) {
  const Patch patch = Parsed("*** Begin Patch\r\n*** Add File: a\r\n+x\ry\r\n+z\r\r\n*** End Patch\r\n");
  EXPECT_EQ(std::get<AddFile>(patch.operations[0]).path, "a");
  EXPECT_EQ(std::get<AddFile>(patch.operations[0]).content, "x\ry\nz\n");
}

TEST(ParsePatchTest, SkipsOneEnvironmentAtTheBeginning) {
  EXPECT_EQ(Parsed(Framed(" *** Environment ID: here \n*** Delete File: a\n")).operations.size(), 1u);
  EXPECT_THAT(Refusal(Framed("*** Environment ID: \n*** Delete File: a\n")), StartsWith("line 2"));
  EXPECT_THAT(Refusal(Framed("*** Environment ID: a\n*** Environment ID: b\n")), StartsWith("line 3"));
  EXPECT_THAT(Refusal(Framed("*** Delete File: a\n*** Environment ID: b\n")), StartsWith("line 3"));
}

TEST(ParsePatchTest, AsksForAnOperation) {
  EXPECT_THAT(Refusal(Framed("")), HasSubstr("no operation"));
  EXPECT_THAT(Refusal(Framed("*** Environment ID: a\n")), HasSubstr("no operation"));
}

TEST(ParsePatchTest, ReadsPathsToTheLastCharacter) {
  EXPECT_EQ(std::get<DeleteFile>(Parsed(Framed("*** Delete File:  a b \u00a0\n")).operations[0]).path, " a b");
  EXPECT_THAT(Refusal(Framed("*** Delete File: \n")), StartsWith("line 2"));
  EXPECT_THAT(Refusal(Framed("*** Delete File:a\n")), StartsWith("line 2"));
  EXPECT_THAT(Refusal(Framed("*** delete file: a\n")), StartsWith("line 2"));
  EXPECT_THAT(Refusal(Framed("*** Update File: a\n*** Move to:  \n x\n")), StartsWith("line 3"));
  EXPECT_THAT(Refusal(Framed(std::string("*** Delete File: a\0b\n", 21))), HasSubstr("NUL"));
}

TEST(ParsePatchTest, IndentsHeadersOnlyOutsideUpdates) {
  EXPECT_EQ(Parsed(Framed(" *** Add File: a\n+x\n\t*** Delete File: b\n  *** Update File: c\n x\n")).operations.size(),
            3u);
  EXPECT_THAT(Update(" x\n *** Delete File: b\n *** Move to: c\n *** End of File\n @@\n").chunks[0].lines,
              ElementsAre(Context("x"), Context("*** Delete File: b"), Context("*** Move to: c"),
                          Context("*** End of File"), Context("@@")));
}

TEST(ParsePatchTest, AllowsNoOtherLineAfterAnAddOrADelete) {
  EXPECT_THAT(Refusal(Framed("*** Add File: a\n+x\n\n")), StartsWith("line 4"));
  EXPECT_THAT(Refusal(Framed("*** Add File: a\n x\n")), StartsWith("line 3"));
  EXPECT_THAT(Refusal(Framed("*** Delete File: a\n+x\n")), StartsWith("line 3"));
}

TEST(ParsePatchTest, BeginsChunksAtTheirMark) {
  const auto update = Update("-a\n@@\n-b\n@@   \n-c\n@@   d \n-e\n");
  ASSERT_EQ(update.chunks.size(), 4u);
  EXPECT_EQ(update.chunks[0].header, std::nullopt);
  EXPECT_EQ(update.chunks[2].header, std::nullopt);
  EXPECT_EQ(update.chunks[3].header, "  d");
}

TEST(ParsePatchTest, RefusesChunksWithoutLines) {
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n")), HasSubstr("no lines"));
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n@@\n")), HasSubstr("no lines"));
  EXPECT_EQ(Refusal(Framed("*** Update File: f\n@@ a\n@@ b\n-x\n")),
            "line 4 of the patch: the chunk at line 3 has no lines");
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n@@\n*** End of File\n")), HasSubstr("no lines"));
}

TEST(ParsePatchTest, RefusesLinesThatSayNothing) {
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n x\n\ty\n")), StartsWith("line 4"));
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n x\nword\n")), HasSubstr("`word`"));
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n@@x\n y\n")), StartsWith("line 3"));
}

TEST(ParsePatchTest, EndsAChunkAtTheEndOfTheFile) {
  const auto update = Update("-a\n*** End of File \n\n \t\n@@\n-b\n");
  ASSERT_EQ(update.chunks.size(), 2u);
  EXPECT_TRUE(update.chunks[0].at_end_of_file);
  EXPECT_FALSE(update.chunks[1].at_end_of_file);
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n-a\n*** End of File\n-b\n")), StartsWith("line 5"));
  EXPECT_THAT(Refusal(Framed("*** Update File: f\n-a\n*** End of File\n *** Delete File: b\n")), StartsWith("line 5"));
}

TEST(ParsePatchTest, OverlooksAnEmptyLineBeforeTheFirstMark) {
  EXPECT_EQ(Update("\n@@\n-a\n").chunks.size(), 1u);
  EXPECT_EQ(Update("\n\n@@\n-a\n").chunks.size(), 2u);
  EXPECT_THAT(Update("\n-a\n").chunks[0].lines, ElementsAre(Context(""), Removed("a")));
  EXPECT_THAT(Update("\n").chunks[0].lines, ElementsAre(Context("")));
}

TEST(ParsePatchTest, RefusesWhatIsNoText) {
  EXPECT_EQ(Refusal(Framed("*** Add File: a\n+\xff\n")), "the patch is not UTF-8");
}

TEST(ParsePatchTest, CutsLongLinesInItsMessagesBetweenCharacters) {
  std::string line(119, 'x');
  for (int i = 0; i < 40; ++i) line += "\u20ac";
  EXPECT_THAT(Refusal(Framed(line + "\n")), HasSubstr("`" + std::string(119, 'x') + "...`"));
}

}  // namespace
}  // namespace holdfast::apply_patch
