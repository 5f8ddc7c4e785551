#include "exec_policy/host_executables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_policy {
namespace {

using ::testing::HasSubstr;

const Places kPlaces = {.cwd = "/work/tree", .home = "/home/me"};

TEST(HostExecutablesTest, MakesProgramsAbsolute) {
  const HostExecutables none;
  EXPECT_EQ(none.Resolve("git", kPlaces), "/work/tree/git");
  EXPECT_EQ(none.Resolve("./bin//git", kPlaces), "/work/tree/bin/git");
  EXPECT_EQ(none.Resolve("../git", kPlaces), "/work/git");
  EXPECT_EQ(none.Resolve("~/bin/git", kPlaces), "/home/me/bin/git");
  EXPECT_EQ(none.Resolve("~me/git", kPlaces), "/work/tree/~me/git");
  EXPECT_EQ(none.Resolve("/usr/./bin/../bin/git", kPlaces), "/usr/bin/git");
  EXPECT_EQ(none.Resolve("/../../git", kPlaces), "/git");
}

TEST(HostExecutablesTest, AnEmptyProgramIsNowhere) { EXPECT_EQ(HostExecutables().Resolve("", kPlaces), std::nullopt); }

TEST(HostExecutablesTest, ADefinedNameIsOnlyAtItsPaths) {
  HostExecutables executables;
  ASSERT_TRUE(executables.Define("git", {"/usr/bin/git", "/opt/x/../git", "/usr/bin/git"}));
  EXPECT_EQ(executables.Resolve("/usr/bin/git", kPlaces), "/usr/bin/git");
  EXPECT_EQ(executables.Resolve("/opt/git", kPlaces), "/opt/git");
  EXPECT_EQ(executables.Resolve("/tmp/git", kPlaces), std::nullopt);
  EXPECT_EQ(executables.Resolve("/tmp/gi", kPlaces), "/tmp/gi");
}

TEST(HostExecutablesTest, ANameWithoutPathsIsNowhere) {
  HostExecutables executables;
  ASSERT_TRUE(executables.Define("git", {}));
  EXPECT_FALSE(executables.Allow("/usr/bin/git"));
}

TEST(HostExecutablesTest, TheLastDefinitionWins) {
  HostExecutables executables;
  ASSERT_TRUE(executables.Define("git", {"/usr/bin/git"}));
  ASSERT_TRUE(executables.Define("git", {"/opt/git"}));
  EXPECT_FALSE(executables.Allow("/usr/bin/git"));
  EXPECT_TRUE(executables.Allow("/opt/git"));
}

TEST(HostExecutablesTest, RefusesWhatCanNeverBeTheProgram) {
  HostExecutables executables;
  for (const char* name : {"", ".", "..", "bin/git", "/git"}) {
    EXPECT_THAT(executables.Define(name, {}).error().message, HasSubstr("bare name")) << name;
  }
  EXPECT_THAT(executables.Define("git", {"bin/git"}).error().message, HasSubstr("not absolute"));
  EXPECT_THAT(executables.Define("git", {"/usr/bin/gitx"}).error().message, HasSubstr("does not end"));
}

}  // namespace
}  // namespace holdfast::exec_policy
