#include "base/paths.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(PathsTest, TheWayUpEndsAtTheRoot) {
  EXPECT_EQ(ParentOf("/a/b/c"), "/a/b");
  EXPECT_EQ(ParentOf("/a"), "/");
  EXPECT_EQ(ParentOf("/"), "/");
  EXPECT_EQ(ParentOf("a"), "/");
}

TEST(PathsTest, TheNameIsTheLastComponent) {
  EXPECT_EQ(NameOf("/a/b.c"), "b.c");
  EXPECT_EQ(NameOf("/a"), "a");
  EXPECT_EQ(NameOf("/"), "");
  EXPECT_EQ(NameOf("a"), "a");
  EXPECT_EQ(NameOf(""), "");
}

TEST(PathsTest, NamesLeaveOutWhatLeadsNowhere) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(NamesIn("/a//b/./c/"), (Names{"a", "b", "c"}));
  EXPECT_EQ(NamesIn("a/../.b"), (Names{"a", "..", ".b"}));
  EXPECT_EQ(NamesIn("/"), Names());
  EXPECT_EQ(NamesIn(""), Names());
}

TEST(PathsTest, DirectoriesOfAListMayBeEmpty) {
  using Directories = std::vector<std::string_view>;
  EXPECT_EQ(DirectoriesIn("/usr/bin:/bin"), (Directories{"/usr/bin", "/bin"}));
  EXPECT_EQ(DirectoriesIn(":/bin:"), (Directories{"", "/bin", ""}));
  EXPECT_EQ(DirectoriesIn(""), Directories());
}

TEST(PathsTest, BelowIsByWholeComponents) {
  EXPECT_TRUE(IsBelow("/a/b", "/a"));
  EXPECT_TRUE(IsBelow("/a/b/c", "/a"));
  EXPECT_FALSE(IsBelow("/ab", "/a"));
  EXPECT_FALSE(IsBelow("/a", "/a/b"));
  EXPECT_FALSE(IsBelow("/b/a", "/a"));
}

TEST(PathsTest, NothingIsBelowItself) {
  EXPECT_FALSE(IsBelow("/a", "/a"));
  EXPECT_FALSE(IsBelow("/", "/"));
  EXPECT_TRUE(IsAtOrBelow("/a", "/a"));
  EXPECT_TRUE(IsAtOrBelow("/", "/"));
  EXPECT_TRUE(IsAtOrBelow("/a/b", "/a"));
  EXPECT_FALSE(IsAtOrBelow("/ab", "/a"));
}

TEST(PathsTest, AllAbsolutePathsAreBelowTheRoot) {
  EXPECT_TRUE(IsBelow("/a", "/"));
  EXPECT_TRUE(IsBelow("/a/b", "/"));
  EXPECT_FALSE(IsBelow("a/b", "/"));
  EXPECT_FALSE(IsAtOrBelow("/", "/a"));
}

TEST(PathsTest, RelativePathsAreComparedWithRelativeOnes) {
  EXPECT_TRUE(IsBelow("a/b", "a"));
  EXPECT_FALSE(IsBelow("ab", "a"));
  EXPECT_FALSE(IsBelow("/a/b", "a"));
  EXPECT_FALSE(IsBelow("a/b", "/a"));
}

TEST(PathsTest, NothingIsBelowAnEmptyPath) {
  EXPECT_FALSE(IsBelow("/a", ""));
  EXPECT_FALSE(IsBelow("a", ""));
  EXPECT_FALSE(IsAtOrBelow("/", ""));
}

TEST(PathsTest, ASlashAtTheEndMakesAnotherDirectory) {
  EXPECT_FALSE(IsAtOrBelow("/a", "/a/"));
  EXPECT_FALSE(IsAtOrBelow("/a/b", "/a/"));
}

}  // namespace
}  // namespace holdfast
