// Tests the mounts for nested repositories whose git directory lies elsewhere.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/plan/text_of_plan.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

// $D stands for the scratch directory in the expected plans.
class NestedGitPlanTest : public testing::Test {
 protected:
  NestedGitPlanTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {
    for (const char* name : {"ws/area/store", "ws/subs/sub"}) std::filesystem::create_directories(Path(name));
    std::filesystem::create_symlink("../../area/store", Path("ws/subs/sub/.git"));
    resolution_.rules = {{.path = "/", .access = Access::kRead}, {.path = Path("ws"), .access = Access::kWrite}};
    resolution_.nested_git = {.elsewhere = {Path("ws/area/store")}, .links = {Path("ws/subs/sub/.git")}};
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  std::string PlanText(MountsBy mounts_by = MountsBy::kDescriptor) const {
    return TextOf(MakePlan(resolution_, {.command_cwd = directory_, .mounts_by = mounts_by}), directory_);
  }

  support::ScratchDir scratch_;
  std::string directory_;
  Resolution resolution_;
};

TEST_F(NestedGitPlanTest, MountsByDescriptorProtectTheDirectoryAndTheLink) {
  EXPECT_THAT(PlanText(), HasSubstr(R"(
writable $D/ws
held $D/ws/area
held $D/ws/subs
read-only $D/ws/area/store
held $D/ws/subs/sub
pinned link $D/ws/subs/sub/.git
network none
)"));
}

TEST_F(NestedGitPlanTest, MountsByNameDoNot) {
  EXPECT_THAT(PlanText(MountsBy::kName), HasSubstr("\nwritable $D/ws\nnetwork none\n"));
}

// Whatever a running command does to its repositories meanwhile, the next command can be started.
TEST_F(NestedGitPlanTest, ReplacedPathsAreLeftOut) {
  std::filesystem::remove(Path("ws/subs/sub/.git"));
  std::filesystem::remove_all(Path("ws/area"));
  EXPECT_THAT(PlanText(), HasSubstr("\nwritable $D/ws\nnetwork none\n"));
  std::filesystem::create_directories(Path("ws/moved/store"));
  std::filesystem::create_symlink("moved", Path("ws/area"));
  EXPECT_THAT(PlanText(), HasSubstr("\nwritable $D/ws\nnetwork none\n"));
}

TEST_F(NestedGitPlanTest, RuleForTheSamePathDecides) {
  resolution_.rules.push_back({.path = Path("ws/area/store"), .access = Access::kWrite});
  EXPECT_THAT(PlanText(), HasSubstr("\nwritable $D/ws/area/store\n"));
  resolution_.rules.back().access = Access::kDeny;
  EXPECT_THAT(PlanText(), HasSubstr("\nempty directory $D/ws/area/store 0000\n"));
}

TEST_F(NestedGitPlanTest, LinkThatCannotBeWrittenNeedsNoMount) {
  resolution_.rules.push_back({.path = Path("ws/subs"), .access = Access::kRead});
  EXPECT_THAT(PlanText(), Not(HasSubstr("pinned link")));
}

}  // namespace
}  // namespace holdfast::sandbox
