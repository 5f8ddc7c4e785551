#include "sandbox/helper_command/sandbox_summary.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/builtin_policies.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SandboxSpec SpecOf(Policy policy) {
  SandboxSpec spec;
  spec.profile.policy = std::move(policy);
  spec.policy_cwd = "/w";
  return spec;
}

TEST(SandboxSummaryTest, KnowsTheBuiltinPolicies) {
  const auto read_only = SummaryOf(SpecOf(ReadOnly()));
  EXPECT_EQ(read_only->files, "read-only");
  EXPECT_THAT(read_only->write, IsEmpty());
  EXPECT_FALSE(read_only->network);
  const auto workspace = SummaryOf(SpecOf(WorkspaceWrite()));
  EXPECT_EQ(workspace->files, "workspace-write");
  EXPECT_THAT(workspace->write, ElementsAre("/w", "/tmp", "$TMPDIR"));
}

TEST(SandboxSummaryTest, NamesEveryRootOfTheWorkspace) {
  SandboxSpec spec = SpecOf(WorkspaceWrite());
  spec.project_roots = {"/a", "/b"};
  spec.profile.policy.files->entries.push_back({Place{PlaceKind::kProjectRoots, "sub"}, Access::kDeny});
  EXPECT_THAT(SummaryOf(spec)->write, ElementsAre("/a", "/b", "/tmp", "$TMPDIR"));
  EXPECT_THAT(SummaryOf(spec)->deny, ElementsAre("/a/sub", "/b/sub"));
}

TEST(SandboxSummaryTest, IsNotReadOnlyIfAnythingMayBeWritten) {
  Policy policy = ReadOnly();
  policy.files->entries.push_back({AbsolutePath{"/data"}, Access::kWrite});
  EXPECT_EQ(SummaryOf(SpecOf(policy))->files, "restricted");
}

TEST(SandboxSummaryTest, KnowsOtherKindsOfSandboxes) {
  EXPECT_EQ(SummaryOf(SpecOf({}))->files, "unrestricted");
  SandboxSpec spec = SpecOf({.files = {}, .network = Network::kEnabled});
  EXPECT_TRUE(SummaryOf(spec)->network);
  spec.profile.type = ProfileType::kExternal;
  EXPECT_EQ(SummaryOf(spec)->files, "external");
  spec.profile.type = ProfileType::kDisabled;
  EXPECT_FALSE(SummaryOf(spec));
  spec.proxies.emplace();
  EXPECT_TRUE(SummaryOf(spec)->network);
}

TEST(SandboxSummaryTest, StaysShort) {
  Policy policy = ReadOnly();
  for (int i = 0; i < 4000; ++i) policy.files->entries.push_back({AbsolutePath{std::string(100, 'x')}, Access::kDeny});
  EXPECT_LT(SummaryOf(SpecOf(policy))->deny.size(), 41u);
  EXPECT_GT(SummaryOf(SpecOf(policy))->deny.size(), 30u);
}

}  // namespace
}  // namespace holdfast::sandbox
