#include "sandbox/prepared_plan.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

class PreparedPlanTest : public testing::Test {
 protected:
  PreparedPlanTest() {
    scratch_.Write("project/sub/file", "");
    scratch_.Write("one/file", "");
    scratch_.Write("other/file", "");
    command_.profile = ProfileText({.type = ProfileType::kManaged, .policy = WorkspaceWrite()});
    command_.policy_cwd = In("project");
    command_.program_directory = "/usr/bin";
    command_.server_tmpdir = scratch_.path();
    command_.tmpdir = "";
  }

  std::string In(const std::string& name) const { return fs::canonical(scratch_.path()) / name; }

  PreparedPlan Prepared() const {
    auto prepared = PreparePlan(command_);
    EXPECT_TRUE(prepared) << prepared.error().message;
    return prepared ? *std::move(prepared) : PreparedPlan();
  }
  PlanKey Key() const { return Prepared().key; }

  support::ScratchDir scratch_;
  SandboxedCommand command_;
};

TEST_F(PreparedPlanTest, HasTheSameKeyForAnotherDirectoryOfTheCommand) {
  const PlanKey key = Key();
  command_.command.cwd = In("project/sub");
  const PreparedPlan prepared = Prepared();
  EXPECT_EQ(prepared.key, key);
  EXPECT_EQ(prepared.plan.working_directory, In("project/sub"));
}

TEST_F(PreparedPlanTest, HasAnotherKeyForAnotherPolicy) {
  const PlanKey key = Key();
  command_.profile = ProfileText({.type = ProfileType::kManaged, .policy = ReadOnly()});
  EXPECT_NE(Key(), key);
}

TEST_F(PreparedPlanTest, HasAnotherKeyWhenADirectoryWasReplaced) {
  const PlanKey key = Key();
  fs::rename(In("project"), In("moved"));
  fs::create_directory(In("project"));
  EXPECT_NE(Key(), key);
  fs::remove(In("project"));
  fs::rename(In("moved"), In("project"));
  EXPECT_EQ(Key(), key);
}

TEST_F(PreparedPlanTest, HasAnotherKeyWhenTheGitLinkOfANestedRepositoryWasReplaced) {
  fs::create_symlink("nowhere", In("project/sub/.git"));
  const PlanKey key = Key();
  EXPECT_EQ(Key(), key);
  fs::create_symlink("nowhere", In("project/sub/other"));
  fs::rename(In("project/sub/other"), In("project/sub/.git"));
  EXPECT_NE(Key(), key);
}

TEST_F(PreparedPlanTest, HasAnotherKeyWhenAProtectedNameHasAppeared) {
  const PlanKey key = Key();
  fs::create_directory(In("project/.git"));
  EXPECT_NE(Key(), key);
}

// A command that runs has made placeholders. The next command must not need another launcher because of them.
TEST_F(PreparedPlanTest, HasTheSameKeyWhileAnotherSandboxHasItsPlaceholders) {
  const PreparedPlan prepared = Prepared();
  auto placeholders = Placeholders::Prepare(prepared.plan.placeholders);
  ASSERT_TRUE(placeholders) << placeholders.error().message;
  const auto made = placeholders->Make();
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE(fs::exists(In("project/.git")));
  EXPECT_EQ(Key(), prepared.key);
}

TEST_F(PreparedPlanTest, HasTheSameKeyWithAMemoryOfWalks) {
  const auto glob = ParseProfile(
      R"({"type":"managed","file_system":{"type":"restricted","entries":[)"
      R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"},)"
      R"({"path":{"type":"special","value":{"kind":"project_roots"}},"access":"write"},)"
      R"({"path":{"type":"glob_pattern","pattern":"**/*.secret"},"access":"deny"}]},"network":"restricted"})");
  ASSERT_TRUE(glob) << glob.error().message;
  command_.profile = ProfileText(*glob);
  scratch_.Write("project/sub/a.secret", "");
  const PlanKey key = Key();
  WalkMemory memory;
  EXPECT_EQ(PreparePlan(command_, &memory)->key, key);
  EXPECT_GT(memory.bytes(), 0u);
  EXPECT_EQ(PreparePlan(command_, &memory)->key, key);
  scratch_.Write("project/b.secret", "");
  EXPECT_NE(PreparePlan(command_, &memory)->key, key);
}

TEST_F(PreparedPlanTest, UsesTheTemporaryDirectoryOfTheCommandAndNotThatOfThisProcess) {
  command_.tmpdir = In("one");
  const PlanKey key = Key();
  ASSERT_EQ(::setenv("TMPDIR", In("other").c_str(), 1), 0);
  EXPECT_EQ(Key(), key);
  command_.tmpdir = In("other");
  const PlanKey other = Key();
  EXPECT_NE(other, key);
  command_.tmpdir.reset();
  EXPECT_EQ(Key(), other);
  ::unsetenv("TMPDIR");
}

TEST_F(PreparedPlanTest, DependsOnWhetherAPortIsShut) {
  Policy open = WorkspaceWrite();
  open.network = Network::kEnabled;
  command_.profile = ProfileText({.type = ProfileType::kManaged, .policy = open});
  const PlanKey key = Key();
  command_.port_ruleset_fd = -1;
  EXPECT_NE(Key(), key);
}

TEST_F(PreparedPlanTest, NotesTheFilesOfTheMountsButNoPlaceholder) {
  const PreparedPlan prepared = Prepared();
  const auto fd = sys::OpenWithoutLinks(In("project"));
  ASSERT_TRUE(fd);
  EXPECT_THAT(prepared.noted, Contains(MountCheck{.path = In("project"),
                                                  .kind = MountCheck::Kind::kWritable,
                                                  .outside = *sys::IdentityOf(fd->get(), "project")}));
  ASSERT_THAT(prepared.plan.placeholders, Contains(Field(&Placeholder::path, In("project/.git"))));
  for (const Placeholder& placeholder : prepared.plan.placeholders) {
    EXPECT_THAT(prepared.noted, Each(Field(&MountCheck::path, Not(placeholder.path))));
  }
}

TEST_F(PreparedPlanTest, NotesTheFilesOfLandlockRules) {
  const PreparedPlan prepared = Prepared();
  const auto rule = std::ranges::find(prepared.plan.landlock, In("project"), &LandlockRule::path);
  ASSERT_NE(rule, prepared.plan.landlock.end());
  const auto fd = sys::OpenWithoutLinks(In("project"));
  ASSERT_TRUE(fd);
  EXPECT_EQ(rule->identity, *sys::IdentityOf(fd->get(), "project"));
}

TEST_F(PreparedPlanTest, FailsWithTheReasonWhenThePolicyCannotBeEnforced) {
  command_.profile = R"({"type":"nonsense"})";
  const auto prepared = PreparePlan(command_);
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().message, testing::HasSubstr("permission profile: "));
}

}  // namespace
}  // namespace holdfast::sandbox
