#include "exec_server/sandbox_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "wire/json.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kReadOnly =
    R"({"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":"special","value":)"
    R"({"kind":"root"}},"access":"read"}]},"network":"enabled"})";
constexpr const char* kProject =
    R"({"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":"special","value":)"
    R"({"kind":"project_roots"}},"access":"write"}]},"network":"restricted"})";

// {"permissions":PERMISSIONS,"windowsSandboxLevel":"disabled"MORE}
std::string Text(std::string_view permissions, std::string_view more = "") {
  return R"({"permissions":)" + std::string(permissions) + R"(,"windowsSandboxLevel":"disabled")" + std::string(more) +
         "}";
}

Result<SandboxSpec> Spec(const std::string& text, const std::string& cwd = "/cwd") {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  TRY(const wire::Sandbox sandbox, wire::Decode<wire::Sandbox>(json));
  return DecodeSandbox(sandbox, cwd);
}

Result<std::optional<SandboxSpec>> FileSpec(const std::string& text) {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  TRY(const wire::Sandbox sandbox, wire::Decode<wire::Sandbox>(json));
  return DecodeFileSandbox(sandbox, "/server");
}

TEST(SandboxSpecTest, PutsTheProjectWhereTheRootsAre) {
  const auto spec = Spec(Text(kProject, R"(,"cwd":"file:///w","workspaceRoots":["file:///w","/v%41"])"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->policy_cwd, "/w");
  EXPECT_THAT(spec->project_roots, ElementsAre("/w", "/v%41"));
}

TEST(SandboxSpecTest, PutsTheProjectIntoTheSandboxsDirectoryElseTheCommands) {
  EXPECT_EQ(Spec(Text(kProject, R"(,"cwd":"/w")"))->policy_cwd, "/w");
  EXPECT_EQ(Spec(Text(kProject))->policy_cwd, "/cwd");
  EXPECT_THAT(Spec(Text(kProject))->project_roots, IsEmpty());
}

TEST(SandboxSpecTest, PrefersThePolicysOwnContext) {
  const auto spec = Spec(Text(kProject, R"(,"cwd":"/w","policyContext":{"cwd":"/p","workspaceRoots":["/q"]})"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->policy_cwd, "/p");
  EXPECT_THAT(spec->project_roots, ElementsAre("/q"));
}

TEST(SandboxSpecTest, GrantsNothingToAProjectWithoutRoots) {
  EXPECT_THAT(Spec(Text(kProject, R"(,"cwd":"/w","workspaceRoots":[])"))->profile.policy.files->entries, IsEmpty());
}

TEST(SandboxSpecTest, NamesWhatIsWrong) {
  EXPECT_THAT(Spec(Text(R"({"type":"later"})")).error().message, HasSubstr("sandbox.permissions: type"));
  EXPECT_THAT(Spec(Text(kProject, R"(,"cwd":"relative")")).error().message, HasSubstr("sandbox.cwd"));
  EXPECT_THAT(Spec(Text(kProject, R"(,"workspaceRoots":["x"])")).error().message, HasSubstr("sandbox.workspaceRoots"));
  EXPECT_EQ(Spec(Text(R"({"type":"later"})")).error().kind, ErrorKind::kInvalidParams);
}

TEST(SandboxSpecTest, TakesPoliciesFromBeforeProfiles) {
  const auto bare = Spec(R"({"type":"workspace-write"})");
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_TRUE(bare->restricts_files());
  EXPECT_FALSE(Spec(R"({"sandboxPolicy":{"type":"danger-full-access"}})")->restricts());
  EXPECT_THAT(Spec(R"({"type":"later"})").error().message, HasSubstr("sandbox.sandboxPolicy"));
}

TEST(FileSandboxTest, RestrictsNothingWithoutFileRules) {
  EXPECT_FALSE(FileSpec(Text(R"({"type":"disabled"})"))->has_value());
  EXPECT_FALSE(FileSpec(Text(R"({"type":"external","network":"restricted"})"))->has_value());
  const char* unrestricted = R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted"})";
  EXPECT_FALSE(FileSpec(Text(unrestricted))->has_value());
  EXPECT_FALSE(DecodeFileSandbox(std::nullopt, "/server")->has_value());
}

TEST(FileSandboxTest, NeedsNoNetwork) {
  const auto spec = FileSpec(Text(kReadOnly));
  ASSERT_TRUE(spec && *spec);
  EXPECT_EQ((*spec)->profile.policy.network, sandbox::Network::kRestricted);
  EXPECT_EQ((*spec)->policy_cwd, "/server");
}

TEST(FileSandboxTest, DoesNotGuessWhereTheProjectIs) {
  EXPECT_THAT(FileSpec(Text(kProject)).error().message, HasSubstr("sandbox.cwd: is missing"));
  EXPECT_TRUE(FileSpec(Text(kProject, R"(,"cwd":"/w")")));
}

}  // namespace
}  // namespace holdfast::exec_server
