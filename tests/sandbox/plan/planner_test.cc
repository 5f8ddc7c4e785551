#include "sandbox/plan/planner.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/record.h"
#include "base/record_reader.h"
#include "sandbox/jail/placeholders.h"
#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/permission_profile.h"
#include "support/scratch_dir.h"
#include "sys/file_identity.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::Not;

class PlannerTest : public testing::Test {
 protected:
  PlannerTest() {
    scratch_.Write("project/sub/file", "");
    scratch_.Write("one/file", "");
    scratch_.Write("other/file", "");
    spec_.profile.policy = WorkspaceWrite();
    spec_.policy_cwd = In("project");
    guarded_.program_directory = "/usr/bin";
    guarded_.server_tmpdir = scratch_.path();
    place_.cwd = In("project");
  }

  std::string In(const std::string& name) const { return fs::canonical(scratch_.path()) / name; }

  PlannedJail Planned(WalkMemory* memory = nullptr) const {
    auto planned = PlanJail(spec_, place_, guarded_, memory);
    EXPECT_TRUE(planned) << planned.error().message;
    return planned ? *std::move(planned) : PlannedJail();
  }
  // Returns the name of the plan.
  std::string Key(WalkMemory* memory = nullptr) const { return EncodeRecord(Planned(memory).plan); }

  support::ScratchDir scratch_;
  SandboxSpec spec_;
  CommandPlace place_;
  Guarded guarded_;
};

TEST_F(PlannerTest, MakesTheSamePlanForAnotherDirectoryOfTheCommand) {
  const std::string key = Key();
  place_.cwd = In("project/sub");
  EXPECT_EQ(Key(), key);
  EXPECT_EQ(Planned().working_directory, In("project/sub"));
}

TEST_F(PlannerTest, MakesAnotherPlanForAnotherPolicy) {
  const std::string key = Key();
  spec_.profile.policy = ReadOnly();
  EXPECT_NE(Key(), key);
}

TEST_F(PlannerTest, MakesAnotherPlanWhenADirectoryWasReplaced) {
  const std::string key = Key();
  fs::rename(In("project"), In("moved"));
  fs::create_directory(In("project"));
  EXPECT_NE(Key(), key);
  fs::remove(In("project"));
  fs::rename(In("moved"), In("project"));
  EXPECT_EQ(Key(), key);
}

TEST_F(PlannerTest, MakesAnotherPlanWhenTheGitLinkOfANestedRepositoryWasReplaced) {
  fs::create_symlink("nowhere", In("project/sub/.git"));
  const std::string key = Key();
  EXPECT_EQ(Key(), key);
  fs::create_symlink("nowhere", In("project/sub/other"));
  fs::rename(In("project/sub/other"), In("project/sub/.git"));
  EXPECT_NE(Key(), key);
}

TEST_F(PlannerTest, MakesAnotherPlanWhenAProtectedNameHasAppeared) {
  const std::string key = Key();
  fs::create_directory(In("project/.git"));
  EXPECT_NE(Key(), key);
}

// A command that runs has made placeholders. The next command must not need another launcher because of them.
TEST_F(PlannerTest, MakesTheSamePlanWhileAnotherSandboxHasItsPlaceholders) {
  const std::string key = Key();
  auto placeholders = Placeholders::Prepare(Planned().plan.mounts.placeholders);
  ASSERT_TRUE(placeholders) << placeholders.error().message;
  const auto made = placeholders->Make();
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(fs::exists(In("project/.git")));
  EXPECT_EQ(Key(), key);
}

TEST_F(PlannerTest, MakesTheSamePlanWithAMemoryOfWalks) {
  const auto glob = ParseProfile(
      R"({"type":"managed","file_system":{"type":"restricted","entries":[)"
      R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"},)"
      R"({"path":{"type":"special","value":{"kind":"project_roots"}},"access":"write"},)"
      R"({"path":{"type":"glob_pattern","pattern":"**/*.secret"},"access":"deny"}]},"network":"restricted"})");
  ASSERT_TRUE(glob) << glob.error().message;
  spec_.profile = *glob;
  scratch_.Write("project/sub/a.secret", "");
  const std::string key = Key();
  WalkMemory memory;
  EXPECT_EQ(Key(&memory), key);
  EXPECT_GT(memory.bytes(), 0u);
  EXPECT_EQ(Key(&memory), key);
  scratch_.Write("project/b.secret", "");
  EXPECT_NE(Key(&memory), key);
}

TEST_F(PlannerTest, UsesTheTemporaryDirectoryOfTheCommandAndNotThatOfThisProcess) {
  place_.tmpdir = In("one");
  const std::string key = Key();
  ASSERT_EQ(::setenv("TMPDIR", In("other").c_str(), 1), 0);
  EXPECT_EQ(Key(), key);
  place_.tmpdir = In("other");
  const std::string other = Key();
  EXPECT_NE(other, key);
  ::unsetenv("TMPDIR");
}

TEST_F(PlannerTest, DependsOnWhetherAPortIsShut) {
  spec_.profile.policy.network = Network::kEnabled;
  const std::string key = Key();
  guarded_.shuts_port = true;
  EXPECT_NE(Key(), key);
}

TEST_F(PlannerTest, NotesTheFilesOfTheMountsButNoPlaceholder) {
  const JailPlan plan = Planned().plan;
  const auto fd = sys::OpenWithoutLinks(In("project"));
  ASSERT_TRUE(fd);
  EXPECT_THAT(plan.noted, Contains(MountCheck{.path = In("project"),
                                              .kind = MountCheck::Kind::kWritable,
                                              .outside = *sys::IdentityOf(fd->get(), "project")}));
  ASSERT_THAT(plan.mounts.placeholders, Contains(Field(&Placeholder::path, In("project/.git"))));
  for (const Placeholder& placeholder : plan.mounts.placeholders) {
    EXPECT_THAT(plan.noted, Each(Field(&MountCheck::path, Not(placeholder.path))));
  }
}

TEST_F(PlannerTest, NotesTheFilesOfLandlockRules) {
  const JailPlan plan = Planned().plan;
  const auto rule = std::ranges::find(plan.mounts.landlock, In("project"), &LandlockRule::path);
  ASSERT_NE(rule, plan.mounts.landlock.end());
  const auto fd = sys::OpenWithoutLinks(In("project"));
  ASSERT_TRUE(fd);
  EXPECT_EQ(rule->identity, *sys::IdentityOf(fd->get(), "project"));
}

TEST_F(PlannerTest, FailsWithTheReasonWhenThePolicyCannotBeEnforced) {
  guarded_.program_directory = In("project");
  const auto planned = PlanJail(spec_, place_, guarded_);
  ASSERT_FALSE(planned);
  EXPECT_THAT(planned.error().message, testing::HasSubstr(In("project")));
}

TEST_F(PlannerTest, SharesNoTemplateWhereThePlanMountsWhatEachCommandHasForItself) {
  EXPECT_EQ(Planned().plan.sharing, Sharing::kTemplate);
  const support::ScratchDir shared("/dev/shm");
  spec_.project_roots = {shared.path()};
  EXPECT_EQ(Planned().plan.sharing, Sharing::kEachCommand);
}

TEST_F(PlannerTest, MakesAPlanThatTravels) {
  const JailPlan plan = Planned().plan;
  const auto read = DecodeRecord<JailPlan>(EncodeRecord(plan));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(Text(read->mounts), Text(plan.mounts));
  EXPECT_EQ(read->noted, plan.noted);
}

}  // namespace
}  // namespace holdfast::sandbox
