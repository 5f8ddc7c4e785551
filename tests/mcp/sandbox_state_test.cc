#include "mcp/sandbox_state.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/builtin_policies.h"
#include "wire/decode.h"

namespace holdfast::mcp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class SandboxStateTest : public testing::Test {
 protected:
  Result<> Update(const std::string& json) {
    wire::Document document;
    TRY(const wire::Json params, document.Parse(json));
    TRY(const auto decoded, wire::Decode<SandboxStateParams>(params));
    return state_.Update(decoded);
  }

  // Returns the sandbox of a call with these members in `_meta`.
  Result<sandbox::SandboxSpec> OfCall(const std::string& json) {
    wire::Document document;
    TRY(const wire::Json meta, document.Parse(json));
    TRY(const auto decoded, wire::Decode<RequestMeta>(meta, "_meta"));
    return state_.OfCall(decoded);
  }
  Result<sandbox::SandboxSpec> OfState(const std::string& json) {
    return OfCall(R"({"codex/sandbox-state-meta":)" + json + "}");
  }
  sandbox::SandboxSpec Spec() { return *state_.OfCall({}); }

  static sandbox::SandboxSpec OfOperator() {
    sandbox::SandboxSpec spec;
    spec.profile.policy = sandbox::ReadOnly();
    spec.policy_cwd = "/server";
    return spec;
  }

  SandboxState state_ = SandboxState("/server", OfOperator());
};

TEST_F(SandboxStateTest, BeginsAsTheOperatorSays) {
  EXPECT_EQ(Spec().profile.policy, sandbox::ReadOnly());
  EXPECT_EQ(Spec().policy_cwd, "/server");
  EXPECT_TRUE(Spec().restricts());
}

TEST_F(SandboxStateTest, TakesEveryTypeOfPolicy) {
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"workspace-write","network_access":true},"sandboxCwd":"/w"})"));
  EXPECT_EQ(Spec().policy_cwd, "/w");
  EXPECT_EQ(Spec().profile.policy.network, sandbox::Network::kEnabled);
  EXPECT_TRUE(Spec().restricts_files());
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/r"})"));
  EXPECT_EQ(Spec().profile.policy, sandbox::ReadOnly());
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"external-sandbox","network_access":"enabled"},"sandboxCwd":"/"})"));
  EXPECT_FALSE(Spec().restricts_files());
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"danger-full-access"},"sandboxCwd":"/"})"));
  EXPECT_FALSE(Spec().restricts());
}

TEST_F(SandboxStateTest, IgnoresMembersThatItDoesNotKnow) {
  EXPECT_TRUE(Update(R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/r","codexLinuxSandboxExe":"/evil",)"
                     R"("useLinuxSandboxBwrap":true})"));
}

TEST_F(SandboxStateTest, TakesARelativeDirectoryAsOneBelowTheServersOwn) {
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"a/../b"})"));
  EXPECT_EQ(Spec().policy_cwd, "/server/b");
}

TEST_F(SandboxStateTest, StaysAsItIsWhenAnUpdateIsRefused) {
  const auto bad_policy = Update(R"({"sandboxPolicy":{"type":"open"},"sandboxCwd":"/w"})");
  ASSERT_FALSE(bad_policy);
  EXPECT_EQ(bad_policy.error().kind, ErrorKind::kInvalidParams);
  EXPECT_THAT(bad_policy.error().message, StartsWith("sandboxPolicy: "));
  const auto no_cwd = Update(R"({"sandboxPolicy":{"type":"danger-full-access"}})");
  ASSERT_FALSE(no_cwd);
  EXPECT_THAT(no_cwd.error().message, HasSubstr("sandboxCwd"));
  EXPECT_EQ(Spec().policy_cwd, "/server");
  EXPECT_TRUE(Spec().restricts());
}

TEST_F(SandboxStateTest, TakesTheSandboxOfACallForThatCallAlone) {
  const auto open = OfState(R"({"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///the%20work"})");
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_FALSE(open->restricts());
  EXPECT_EQ(open->policy_cwd, "/the work");
  EXPECT_EQ(Spec().profile.policy, sandbox::ReadOnly());
  EXPECT_EQ(Spec().policy_cwd, "/server");
}

TEST_F(SandboxStateTest, LetsTheSandboxOfACallWinOverAnUpdate) {
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"danger-full-access"},"sandboxCwd":"/w"})"));
  const auto closed = OfState(R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/r"})");
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_EQ(closed->profile.policy, sandbox::ReadOnly());
  EXPECT_EQ(closed->policy_cwd, "/r");
}

// Client 0.142 announces the one name, and client 0.166 sends both.
TEST_F(SandboxStateTest, KnowsBothNamesAndPrefersTheOneThatAnnouncesIt) {
  const auto other = OfCall(R"({"codex/sandbox-state":{"permissionProfile":{"type":"disabled"},"sandboxCwd":"/a"}})");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->policy_cwd, "/a");
  const auto both = OfCall(R"({"codex/sandbox-state":{"permissionProfile":{"type":"disabled"},"sandboxCwd":"/a"},)"
                           R"("codex/sandbox-state-meta":{"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/b"},)"
                           R"("codex/sandbox-launcher":{"codexExecutable":"/evil"},"threadId":"t"})");
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->policy_cwd, "/b");
  EXPECT_TRUE(both->restricts());
}

TEST_F(SandboxStateTest, TakesAProfileInBothSpellings) {
  const auto tagged =
      OfState(R"({"permissionProfile":{"type":"managed","file_system":{"type":"restricted","entries":[)"
              R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"}]},"network":"restricted"},)"
              R"("codexLinuxSandboxExe":"/evil","sandboxCwd":"/w","useLegacyLandlock":false,"useMxc":false})");
  ASSERT_TRUE(tagged) << tagged.error().message;
  EXPECT_EQ(tagged->profile.policy, sandbox::ReadOnly());
  EXPECT_FALSE(tagged->legacy_landlock);
  const auto untagged =
      OfState(R"({"permissionProfile":{"network":{"enabled":true},"file_system":{"read":["/"],"write":["/w"]}},)"
              R"("sandboxCwd":"/w","useLegacyLandlock":true})");
  ASSERT_TRUE(untagged) << untagged.error().message;
  EXPECT_EQ(untagged->profile.policy.network, sandbox::Network::kEnabled);
  EXPECT_TRUE(untagged->restricts_files());
  EXPECT_TRUE(untagged->legacy_landlock);
}

// Client 0.130 sends both, and a profile that denies reading cannot be written as a policy.
TEST_F(SandboxStateTest, EnforcesTheProfileThatAPolicyStandsBeside) {
  const auto both =
      OfState(R"({"permissionProfile":{"type":"managed","file_system":{"type":"restricted","entries":[)"
              R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"}]},"network":"restricted"},)"
              R"("sandboxPolicy":{"type":"danger-full-access"},"sandboxCwd":"/w"})");
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->profile.policy, sandbox::ReadOnly());
}

TEST_F(SandboxStateTest, RefusesACallWhoseSandboxIsNotUnderstood) {
  // Were it not refused, the command would run without any sandbox.
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"danger-full-access"},"sandboxCwd":"/w"})"));
  const std::pair<const char*, const char*> cases[] = {
      {"null", "expected an object"},
      {"[]", "expected an object"},
      {"{}", "sandboxCwd: is missing"},
      {R"({"sandboxCwd":"/w"})", "permissionProfile: is missing"},
      {R"({"permissionProfile":null,"sandboxCwd":"/w"})", "permissionProfile: "},
      {R"({"permissionProfile":{"type":"open"},"sandboxCwd":"/w"})", "permissionProfile: "},
      {R"({"permissionProfile":{"type":"disabled","deny":["/etc"]},"sandboxCwd":"/w"})", "permissionProfile: "},
      {R"({"permissionProfile":{"type":"disabled"}})", "sandboxCwd: is missing"},
      {R"({"permissionProfile":{"type":"disabled"},"sandboxCwd":"w"})", "sandboxCwd: "},
      {R"({"permissionProfile":{"type":"disabled"},"sandboxCwd":"http://host/w"})", "sandboxCwd: "},
      {R"({"permissionProfile":{"type":"disabled"},"sandboxPolicy":{"type":"open"},"sandboxCwd":"/w"})",
       "sandboxPolicy: "},
      {R"({"permissionProfile":{"type":"disabled"},"sandboxCwd":"/w","deniedHosts":[]})", "deniedHosts: "},
      {R"({"permissionProfile":{"type":"disabled"},"sandboxCwd":"/w","useLegacyLandlock":1})", "useLegacyLandlock: "},
  };
  for (const auto& [json, complaint] : cases) {
    const auto refused = OfState(json);
    ASSERT_FALSE(refused) << json;
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidParams);
    EXPECT_THAT(refused.error().message, StartsWith("codex/sandbox-state-meta: "));
    EXPECT_THAT(refused.error().message, HasSubstr(complaint)) << json;
  }
  const auto other_name = OfCall(R"({"codex/sandbox-state":null})");
  ASSERT_FALSE(other_name);
  EXPECT_THAT(other_name.error().message, StartsWith("codex/sandbox-state: "));
}

}  // namespace
}  // namespace holdfast::mcp
