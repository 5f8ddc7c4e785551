#include "mcp/sandbox_state.h"

#include <string>

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

  SandboxState state_ = *SandboxState::Create("/server", {});
};

TEST_F(SandboxStateTest, BeginsReadOnlyInTheDirectoryOfTheServer) {
  EXPECT_EQ(state_.spec().profile.policy, sandbox::ReadOnly());
  EXPECT_EQ(state_.spec().policy_cwd, "/server");
  EXPECT_TRUE(state_.spec().restricts());
  EXPECT_FALSE(state_.has_network());
}

TEST_F(SandboxStateTest, BeginsAsTheOperatorSays) {
  const auto state = SandboxState::Create("/server", R"({"type":"danger-full-access"})");
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_FALSE(state->spec().restricts());
  EXPECT_TRUE(state->has_network());
}

TEST_F(SandboxStateTest, RefusesAStartThatItDoesNotUnderstand) {
  EXPECT_FALSE(SandboxState::Create("/server", "{"));
  EXPECT_FALSE(SandboxState::Create("/server", R"({"type":"open"})"));
}

TEST_F(SandboxStateTest, TakesEveryTypeOfPolicy) {
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"workspace-write","network_access":true},"sandboxCwd":"/w"})"));
  EXPECT_EQ(state_.spec().policy_cwd, "/w");
  EXPECT_TRUE(state_.has_network());
  EXPECT_TRUE(state_.spec().restricts_files());
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/r"})"));
  EXPECT_EQ(state_.spec().profile.policy, sandbox::ReadOnly());
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"external-sandbox","network_access":"enabled"},"sandboxCwd":"/"})"));
  EXPECT_FALSE(state_.spec().restricts_files());
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"danger-full-access"},"sandboxCwd":"/"})"));
  EXPECT_FALSE(state_.spec().restricts());
}

TEST_F(SandboxStateTest, IgnoresMembersThatItDoesNotKnow) {
  EXPECT_TRUE(Update(R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/r","codexLinuxSandboxExe":"/evil",)"
                     R"("useLinuxSandboxBwrap":true})"));
}

TEST_F(SandboxStateTest, TakesARelativeDirectoryAsOneBelowTheServersOwn) {
  ASSERT_TRUE(Update(R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"a/../b"})"));
  EXPECT_EQ(state_.spec().policy_cwd, "/server/b");
}

TEST_F(SandboxStateTest, StaysAsItIsWhenAnUpdateIsRefused) {
  const auto bad_policy = Update(R"({"sandboxPolicy":{"type":"open"},"sandboxCwd":"/w"})");
  ASSERT_FALSE(bad_policy);
  EXPECT_EQ(bad_policy.error().kind, ErrorKind::kInvalidParams);
  EXPECT_THAT(bad_policy.error().message, StartsWith("sandboxPolicy: "));
  const auto no_cwd = Update(R"({"sandboxPolicy":{"type":"danger-full-access"}})");
  ASSERT_FALSE(no_cwd);
  EXPECT_THAT(no_cwd.error().message, HasSubstr("sandboxCwd"));
  EXPECT_EQ(state_.spec().policy_cwd, "/server");
  EXPECT_TRUE(state_.spec().restricts());
}

}  // namespace
}  // namespace holdfast::mcp
