#include "sandbox/plan/private_dirs.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan_options.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::VariantWith;

class PrivateDirsTest : public testing::Test {
 protected:
  PrivateDirsTest() {
    fs::create_directories(In("home/.cache"));
    resolution_.rules = {{.path = "/", .access = Access::kRead}, {.path = In("home"), .access = Access::kWrite}};
  }

  std::string In(const std::string& name) const { return fs::canonical(scratch_.path()) / name; }
  std::vector<std::string> Found(const std::string& place) const { return FindPrivateDirs({In(place)}, resolution_); }

  support::ScratchDir scratch_;
  Resolution resolution_;
};

TEST_F(PrivateDirsTest, MakesADirectoryThatTheCommandCouldMake) {
  EXPECT_THAT(Found("home/.cache/holdfast"), ElementsAre(In("home/.cache/holdfast")));
  EXPECT_EQ(fs::status(In("home/.cache/holdfast")).permissions(), fs::perms::owner_all);
}

TEST_F(PrivateDirsTest, MakesNothingWhereTheCommandCannotWrite) {
  fs::create_directory(In("run"));
  EXPECT_THAT(Found("run/holdfast"), ElementsAre(In("run/holdfast")));
  EXPECT_FALSE(fs::exists(In("run/holdfast")));
  EXPECT_THAT(Found("missing/holdfast"), IsEmpty());
  EXPECT_FALSE(fs::exists(In("missing")));
}

// A rule about a path with a link that the command could change would stop every start.
TEST_F(PrivateDirsTest, HasNoLinksInItsPaths) {
  fs::create_directory(In("disk"));
  fs::create_directory_symlink(In("disk"), In("home/linked"));
  EXPECT_THAT(Found("home/linked/holdfast"), ElementsAre(In("disk/holdfast")));
  fs::create_directory_symlink(In("disk"), In("home/.cache/holdfast"));
  EXPECT_THAT(Found("home/.cache/holdfast"), IsEmpty());
}

TEST_F(PrivateDirsTest, AreCoveredInAPlan) {
  const PlanOptions options{.command_cwd = In("home"), .private_dirs = Found("home/.cache/holdfast")};
  const auto plan = MakePlan(resolution_, options);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_THAT(plan->mounts,
              Contains(VariantWith<EmptyDirectory>(Field(&EmptyDirectory::path, In("home/.cache/holdfast")))));
  EXPECT_THAT(plan->placeholders, IsEmpty());

  resolution_ = {};
  resolution_.unrestricted = true;
  const auto open_plan = MakePlan(resolution_, options);
  ASSERT_TRUE(open_plan.has_value()) << open_plan.error().message;
  EXPECT_THAT(open_plan->mounts,
              Contains(VariantWith<EmptyDirectory>(Field(&EmptyDirectory::path, In("home/.cache/holdfast")))));
}

TEST_F(PrivateDirsTest, AreNoneThatLandlockLetsTheCommandWrite) {
  const PlanOptions options{.command_cwd = In("home"), .private_dirs = Found("home/.cache/holdfast")};
  const auto plan = MakeLandlockPlan(resolution_, options);
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().message, HasSubstr("landlock cannot hide " + In("home/.cache/holdfast")));
  resolution_.rules = {{.path = "/", .access = Access::kRead}};
  EXPECT_TRUE(MakeLandlockPlan(resolution_, options).has_value());
}

}  // namespace
}  // namespace holdfast::sandbox
