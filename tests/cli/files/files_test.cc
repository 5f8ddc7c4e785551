// Tests of the commands for files of the server.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"

namespace holdfast::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

using FilesCommandTest = ServedCommandFixture;

TEST_F(FilesCommandTest, CopiesAFileUpAndDownUnchanged) {
  EXPECT_EQ(Output("head -c 5000000 /dev/urandom > a; holdfast cp a :b; cmp a b; holdfast cp :b c; cmp a c; ls"),
            "a\nb\nc\nserver.sock\n");
}

TEST_F(FilesCommandTest, CopiesAnEmptyFileAndOneIntoADirectory) {
  Output("touch empty; mkdir -p there; holdfast cp empty :there; holdfast cp :there/empty back; cmp empty back");
  Output("echo x > one; echo y > two; holdfast cp one two :there/; cmp one there/one; cmp two there/two");
  EXPECT_THAT(Refusal("holdfast cp one two :nowhere", 1), HasSubstr("nowhere is not a directory"));
}

TEST_F(FilesCommandTest, CopiesTreesInBothDirections) {
  Output(
      "mkdir -p tree/deep/empty; echo 1 > tree/one; echo 2 > 'tree/deep/a b'; holdfast cp tree :copy; diff -r tree "
      "copy");
  Output("holdfast cp :copy back; diff -r tree back; holdfast cp :tree back; diff -r tree back/tree");
}

// The name of the part of a download from `a` to the file `$1`, for command lines.
constexpr const char* kPartFunction =
    "part() { echo $1.$(stat -c %s a)-$(($(date -r a +%s%N) / 1000000)).holdfast-part; }; ";

// The server chooses the names in a tree, and so must not choose which links of the destination are followed.
TEST_F(FilesCommandTest, ADownloadDoesNotFollowLinksBelowItsDestination) {
  Output("mkdir -p tree/sub outside out/tree; echo x > tree/sub/file; ln -s ../../outside out/tree/sub");
  EXPECT_THAT(Refusal("holdfast cp :tree out", 1), HasSubstr("out/tree/sub is a link"));
  Output(kPartFunction + std::string("cp -p tree/sub/file a; rm out/tree/sub; mkdir out/tree/sub; "
                                     "ln -s ../../../outside/file $(part out/tree/sub/file)"));
  EXPECT_THAT(Refusal("holdfast cp :tree out", 1), HasSubstr("Too many levels of symbolic links"));
  EXPECT_EQ(Output("ls outside"), "");
  Output("ln -s out link; rm -r out/tree; holdfast cp :tree link; diff -r tree out/tree");
}

TEST_F(FilesCommandTest, CopiesOnTheServer) { Output("echo x > a; holdfast cp :a :b; cmp a b"); }

TEST_F(FilesCommandTest, GoesOnWithADownloadThatWasCut) {
  const std::string part = kPartFunction;
  EXPECT_EQ(Output(part + "seq 100000 > a; head -c 300000 a > $(part b); holdfast cp --resume :a b; cmp a b; ls"),
            "a\nb\nserver.sock\n");
  // A beginning that is not that of the file shows that it was not copied again.
  EXPECT_EQ(Output(part + "printf XX > $(part c); holdfast cp --resume :a c; head -c 2 c"), "XX");
}

TEST_F(FilesCommandTest, DoesNotGoOnWithAPartOfAnotherVersion) {
  const std::string part = kPartFunction;
  Output(part + "seq 100000 > a; printf XX > $(part b); touch -d '2001-02-03' a; holdfast cp --resume :a b; cmp a b");
  Output(part + "printf XX > $(part c); echo more >> a; touch -d '2001-02-03' a; holdfast cp --resume :a c; cmp a c");
  // A part that is longer than the file cannot be a part of it.
  Output(part + "seq 200000 > $(part e); holdfast cp --resume :a e; cmp a e");
}

TEST_F(FilesCommandTest, ResumingSkipsOnlyFilesOfTheSameSizeAndTime) {
  Output("seq 1000 > a; holdfast cp --resume :a b; cmp a b");
  EXPECT_EQ(Output("holdfast stat --json a b | grep -o 'modifiedAtMs\":[0-9]*' | uniq | wc -l"), "1\n");
  // Another content with the size and the time of the source shows that the file was skipped.
  EXPECT_EQ(Output("t=$(stat -c %y b); printf XX | dd of=b conv=notrunc status=none; touch -d \"$t\" b; "
                   "holdfast cp --resume :a b; head -c 2 b"),
            "XX");
  Output("touch b; holdfast cp --resume :a b; cmp a b");
  Output("touch -d '2001-02-03 04:05:06.789' a; holdfast cp --resume :a b; cmp a b");
  Output(
      "touch -d '1965-02-03 04:05:06.789' a; holdfast cp --resume :a b; cmp a b; [ $(stat -c %Y a) = $(stat -c %Y b) "
      "]");
}

TEST_F(FilesCommandTest, RefusesSourcesThatDoNotExistOrAreOnTheWrongSide) {
  EXPECT_THAT(Refusal("holdfast cp missing :x", 1), HasSubstr("No such file or directory"));
  EXPECT_THAT(Refusal("holdfast cp :missing x", 1), HasSubstr("missing"));
  EXPECT_THAT(Refusal("holdfast cp a b", 2), HasSubstr("begin with a colon"));
  EXPECT_THAT(Refusal("holdfast cp a", 2), HasSubstr("a source and a destination"));
  EXPECT_THAT(Refusal("holdfast cp a :b :c", 2), HasSubstr("the same side"));
}

TEST_F(FilesCommandTest, ShowsControlCharactersInMessagesAsEscapes) {
  EXPECT_THAT(Refusal("holdfast cat $'a\\x1b[31mb'", 1), AllOf(HasSubstr("a\\x1b[31mb"), Not(HasSubstr("\x1b"))));
}

TEST_F(FilesCommandTest, ListsDirectories) {
  Output("mkdir -p d/sub; echo hello > d/file");
  EXPECT_EQ(Output("holdfast ls d"), "file\nsub/\n");
  EXPECT_EQ(Output("holdfast ls :d/file"), Path("d/file") + "\n");
  EXPECT_THAT(Output("holdfast ls -l d"),
              MatchesRegex("file +6  [-0-9: ]+  file\ndirectory +[0-9]+  [-0-9: ]+  sub/\n"));
  EXPECT_THAT(Output("holdfast ls --json d"), HasSubstr("\"path\":\"" + Path("d/file") + "\""));
  EXPECT_THAT(Output("holdfast ls --json /"), AllOf(HasSubstr("\"path\":\"/usr\""), Not(HasSubstr("//"))));
  EXPECT_THAT(Refusal("holdfast ls missing", 1), HasSubstr("missing"));
}

TEST_F(FilesCommandTest, PrintsFiles) {
  EXPECT_EQ(Output("echo one > a; echo two > b; holdfast cat a :b"), "one\ntwo\n");
  EXPECT_EQ(Run("echo one > a; holdfast cat missing a").out, "one\n");
  EXPECT_EQ(Run("echo one > a; holdfast cat missing a").status, 1);
  EXPECT_EQ(Output("seq 1000000 > long; holdfast cat long | cmp - long && echo same"), "same\n");
}

TEST_F(FilesCommandTest, EndsQuietlyWhenTheReaderHasEnough) {
  const support::Outcome outcome = Run("seq 1000000 > long; holdfast cat long | head -n 1; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(outcome.out, "1\n141\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(FilesCommandTest, MakesAndRemoves) {
  Output("holdfast mkdir x/y; [ -d x/y ]; touch x/y/z");
  EXPECT_THAT(Refusal("holdfast rm x", 1), HasSubstr("is a directory; -r removes it"));
  Output("holdfast rm x/y/z; [ ! -e x/y/z ]; holdfast rm -r x; [ ! -e x ]");
  EXPECT_EQ(Run("holdfast rm x").status, 1);
  Output("holdfast rm -f x");
}

TEST_F(FilesCommandTest, DescribesFiles) {
  EXPECT_THAT(Output("printf 12345 > a; chmod 750 a; holdfast stat a"),
              AllOf(HasSubstr("kind:      file\n"), HasSubstr("size:      5\n"), HasSubstr("mode:      0750\n"),
                    HasSubstr("modified:")));
  EXPECT_EQ(Run("holdfast mkdir --json :b").status, 2) << "an option without an effect";
  EXPECT_THAT(Output("holdfast stat --json :a"), HasSubstr("\"isFile\":true"));
}

}  // namespace
}  // namespace holdfast::cli
