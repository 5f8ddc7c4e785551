#include "exec_policy/host_executables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_policy {
namespace {

using ::testing::HasSubstr;

using enum HostExecutables::Listing;

TEST(HostExecutablesTest, ADefinedNameIsOnlyAtItsPaths) {
  HostExecutables executables;
  ASSERT_TRUE(executables.Define("git", {"/usr/bin/git", "/opt/x/../git", "/usr/bin/git"}));
  EXPECT_EQ(executables.ListingOf("/usr/bin/git"), kListed);
  EXPECT_EQ(executables.ListingOf("/opt/git"), kListed);
  EXPECT_EQ(executables.ListingOf("/tmp/git"), kExcluded);
  EXPECT_EQ(executables.ListingOf("/tmp/gi"), kNone);
}

TEST(HostExecutablesTest, ANameWithoutPathsIsNowhere) {
  HostExecutables executables;
  ASSERT_TRUE(executables.Define("git", {}));
  EXPECT_EQ(executables.ListingOf("/usr/bin/git"), kExcluded);
}

TEST(HostExecutablesTest, TheLastDefinitionWins) {
  HostExecutables executables;
  ASSERT_TRUE(executables.Define("git", {"/usr/bin/git"}));
  ASSERT_TRUE(executables.Define("git", {"/opt/git"}));
  EXPECT_EQ(executables.ListingOf("/usr/bin/git"), kExcluded);
  EXPECT_EQ(executables.ListingOf("/opt/git"), kListed);
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
