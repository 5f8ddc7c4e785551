// Tests which directories of a writable place the plan keeps from being renamed. Each of them has a reason: a file
// below it would otherwise lose its protection, for this command or for one that is started while this command still
// runs.
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan/make_plan.h"
#include "sandbox/plan/plan.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Paths = std::vector<std::string>;

// The workspace is ws. It may be written, everything else may be read.
class PinsTest : public testing::Test {
 protected:
  PinsTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {
    for (const char* name : {"ws/a/b/file", "ws/c/d/file", "out/a/file"}) scratch_.Write(name, "text");
    resolution_.rules = {{.path = "/", .access = Access::kRead}, {.path = Path("ws"), .access = Access::kWrite}};
  }

  std::string Path(std::string_view name) const { return directory_ + "/" + std::string(name); }

  void Add(std::string_view name, Access access) {
    resolution_.rules.push_back({.path = Path(name), .access = access});
  }

  // Returns the directories that stay where they are without a rule of their own, in the form that the options ask for.
  template <typename Pin>
  Paths Pinned(PlanOptions options) const {
    options.command_cwd = directory_;
    const auto plan = MakePlan(resolution_, options);
    EXPECT_TRUE(plan) << plan.error().message;
    Paths paths;
    for (const Mount& mount : plan.value_or(NamespacePlan()).mounts) {
      const auto* pin = std::get_if<Pin>(&mount);
      if (pin && pin->path.starts_with(directory_ + "/")) paths.push_back(pin->path.substr(directory_.size() + 1));
    }
    return paths;
  }

  Paths Held() const { return Pinned<HeldDirectory>({.command_cwd = {}, .mounts_by = MountsBy::kDescriptor}); }

  support::ScratchDir scratch_;
  std::string directory_;
  Resolution resolution_;
};

TEST_F(PinsTest, WorkspaceWithoutRulesInItIsFree) { EXPECT_THAT(Held(), IsEmpty()); }

TEST_F(PinsTest, DirectoriesAboveARuleStay) {
  for (const Access access : {Access::kRead, Access::kDeny, Access::kWrite}) {
    resolution_.rules.resize(2);
    Add("ws/a/b/file", access);
    EXPECT_THAT(Held(), ElementsAre("ws/a", "ws/a/b"));
  }
}

TEST_F(PinsTest, DirectoriesAboveAMissingNameStay) {
  Add("ws/a/b/.git/hooks", Access::kRead);
  EXPECT_THAT(Held(), ElementsAre("ws/a", "ws/a/b"));
}

// A command that still runs could otherwise move the directory while the files for the next command are searched for.
// The search would not find the file, and the next command could read it.
TEST_F(PinsTest, DirectoriesAboveAFileThatAPatternDeniesStay) {
  resolution_.denied_by_pattern = {Path("ws/c/d/file")};
  EXPECT_THAT(Held(), ElementsAre("ws/c", "ws/c/d"));
}

TEST_F(PinsTest, DirectoriesThatCannotBeWrittenNeedNoPin) {
  resolution_.denied_by_pattern = {Path("out/a/file")};
  Add("ws/c", Access::kRead);
  Add("ws/c/d/file", Access::kDeny);
  EXPECT_THAT(Held(), IsEmpty());
}

TEST_F(PinsTest, MountsByNamePinAtThePathItself) {
  Add("ws/a/b/file", Access::kDeny);
  const PlanOptions by_name{.command_cwd = {}, .mounts_by = MountsBy::kName};
  EXPECT_THAT(Pinned<PinnedBind>(by_name), ElementsAre("ws/a", "ws/a/b"));
  EXPECT_THAT(Pinned<HeldDirectory>(by_name), IsEmpty());
}

// A file helper looks for its mounts at their paths.
TEST_F(PinsTest, CallerThatRefusesMissingNamesGetsPinsAtTheirPaths) {
  Add("ws/a/b/.git", Access::kRead);
  const PlanOptions refused{
      .command_cwd = {}, .missing_names = MissingNames::kRefused, .mounts_by = MountsBy::kDescriptor};
  EXPECT_THAT(Pinned<PinnedBind>(refused), ElementsAre("ws/a", "ws/a/b"));
  EXPECT_THAT(Pinned<HeldDirectory>(refused), IsEmpty());
}

// A plan without restrictions shows the machine's own /dev, which would not cover the mounts that hold directories.
TEST_F(PinsTest, PlanWithoutAPrivateDevHoldsNothing) {
  resolution_ = {};
  resolution_.unrestricted = true;
  const PlanOptions hiding{.command_cwd = {}, .mounts_by = MountsBy::kDescriptor, .hidden = {Path("ws/a/b/file")}};
  EXPECT_THAT(Pinned<HeldDirectory>(hiding), IsEmpty());
  EXPECT_THAT(Pinned<PinnedBind>(hiding), ElementsAre("ws", "ws/a", "ws/a/b"));
}

}  // namespace
}  // namespace holdfast::sandbox
