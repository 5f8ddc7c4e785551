#include "exec_policy/program_path.h"

#include <climits>

#include <gtest/gtest.h>

namespace holdfast::exec_policy {
namespace {

const Places kPlaces = {.cwd = "/work/tree", .home = "/home/me"};

TEST(ProgramPathTest, MakesProgramsAbsolute) {
  EXPECT_EQ(PathOfProgram("git", kPlaces), "/work/tree/git");
  EXPECT_EQ(PathOfProgram("./bin//git", kPlaces), "/work/tree/bin/git");
  EXPECT_EQ(PathOfProgram("../git", kPlaces), "/work/git");
  EXPECT_EQ(PathOfProgram("~/bin/git", kPlaces), "/home/me/bin/git");
  EXPECT_EQ(PathOfProgram("~me/git", kPlaces), "/work/tree/~me/git");
  EXPECT_EQ(PathOfProgram("/usr/./bin/../bin/git", kPlaces), "/usr/bin/git");
  EXPECT_EQ(PathOfProgram("/../../git", kPlaces), "/git");
}

TEST(ProgramPathTest, AnEmptyOrEndlessProgramIsNowhere) {
  EXPECT_EQ(PathOfProgram("", kPlaces), std::nullopt);
  EXPECT_EQ(PathOfProgram(std::string(PATH_MAX, 'x'), kPlaces), std::nullopt);
}

TEST(ProgramPathTest, FoldsAPath) {
  EXPECT_EQ(Folded("/usr/bin/uname"), "/usr/bin/uname");
  EXPECT_EQ(Folded("//usr/./bin//uname/"), "/usr/bin/uname");
  EXPECT_EQ(Folded("/usr/lib/../bin/uname"), "/usr/bin/uname");
  EXPECT_EQ(Folded("/../../uname"), "/uname");
  EXPECT_EQ(Folded("/.."), "/");
}

TEST(ProgramPathTest, TellsWhetherAPathGoesUp) {
  EXPECT_TRUE(GoesUp("/usr/../bin"));
  EXPECT_TRUE(GoesUp(".."));
  EXPECT_FALSE(GoesUp("/usr/..bin/..."));
  EXPECT_FALSE(GoesUp("/"));
}

}  // namespace
}  // namespace holdfast::exec_policy
