#include "sandbox/policy/sandbox_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "wire/json.h"

namespace holdfast::sandbox {
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

// Returns {"permissions":PERMISSIONS,"windowsSandboxLevel":"disabled"MORE}.
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

// A client describes the sandbox of its options so.
TEST(SandboxSpecTest, IsTheSameAfterItWasSent) {
  const SandboxSpec specs[] = {
      *Spec(Text(kReadOnly, R"(,"cwd":"/w x")")),
      *Spec(Text(kProject, R"(,"cwd":"/w","workspaceRoots":["/w","/v%41"],"useLegacyLandlock":true)")),
      *Spec(Text(R"({"type":"external","network":"enabled"})")),
  };
  for (const SandboxSpec& spec : specs) EXPECT_EQ(Spec(SandboxText(spec)), spec) << SandboxText(spec);
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
  EXPECT_THAT(Spec(R"({"type":"later"})").error().message, HasSubstr("sandbox as a policy: type"));
  EXPECT_THAT(Spec(R"({"sandboxPolicy":{"type":"later"}})").error().message, HasSubstr("sandbox.sandboxPolicy: type"));
}

// A client, or an attacker who can add members to its request, gives the rules twice. Whichever rules were chosen, the
// command would not be held to the others.
TEST(SandboxSpecTest, RefusesRulesThatContradictEachOther) {
  const std::string danger = R"({"type":"danger-full-access"})";
  for (const std::string& text :
       {Text(kReadOnly, R"(,"sandboxPolicy":)" + danger), Text(kReadOnly, R"(,"type":"danger-full-access")"),
        Text(R"({"type":"disabled"})", R"(,"sandboxPolicy":{"type":"read-only"})"),
        Text(R"({"type":"disabled"})", R"(,"type":"read-only")"),
        std::string(R"({"type":"read-only","sandboxPolicy":)" + danger + "}"),
        std::string(R"({"type":"danger-full-access","sandboxPolicy":{"type":"workspace-write"}})"),
        Text(kReadOnly, R"(,"sandboxPolicy":{"type":"read-only","network_access":true},"type":"danger-full-access")"),
        Text(kReadOnly, R"(,"sandboxPolicy":{"type":"read-only"})")}) {  // the same except for the network
    const auto spec = Spec(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().kind, ErrorKind::kInvalidParams);
    EXPECT_THAT(spec.error().message, HasSubstr("contradicts")) << text;
  }
}

TEST(SandboxSpecTest, TakesRulesThatAreGivenTwiceAndAgree) {
  const char* same = R"(,"sandboxPolicy":{"type":"read-only","network_access":true},"type":"read-only",)"
                     R"("network_access":true)";
  const auto spec = Spec(Text(kReadOnly, same));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_TRUE(spec->restricts_files());
  EXPECT_TRUE(Spec(Text(R"({"type":"disabled"})", R"(,"type":"danger-full-access")")));
  EXPECT_TRUE(Spec(Text(kReadOnly, R"(,"sandboxPolicy":null,"type":null)")));
  EXPECT_TRUE(Spec(R"({"permissions":null,"sandboxPolicy":{"type":"read-only"}})"));
}

TEST(SandboxSpecTest, RefusesASandboxWithoutRules) {
  for (const char* text : {"{}", R"({"windowsSandboxLevel":"disabled"})",
                           R"({"permissions":null,"windowsSandboxLevel":"disabled"})", R"({"sandboxPolicy":null})"}) {
    EXPECT_FALSE(Spec(text)) << text;
  }
}

TEST(SandboxSpecTest, RefusesRulesItDoesNotUnderstand) {
  for (const std::string& text :
       {Text(R"({"type":"disabled","network":"restricted"})"), Text(R"({"type":"disabled","deny":["/etc"]})"),
        Text(R"({"type":"disabled"})", R"(,"network":"restricted")"),
        Text(R"({"type":"disabled"})", R"(,"file_system":{"type":"restricted","entries":[]})"),
        std::string(R"({"sandboxPolicy":{"type":"danger-full-access"},"network_access":false})"),
        std::string(R"({"type":"danger-full-access","network_access":false})"),
        std::string(R"({"type":"workspace-write","later":1})")}) {
    const auto spec = Spec(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().kind, ErrorKind::kInvalidParams);
  }
}

// The sandbox objects come from recorded conversations with clients 0.130, 0.142 and 0.166. They have further members
// that those clients know; these mean nothing here, and are no reason to refuse the object.
TEST(SandboxSpecTest, TakesWhatClientsSend) {
  const std::string paths = R"(,"cwd":"/w","useLegacyLandlock":false)";
  const std::string more = paths + R"(,"workspaceRoots":["file:///w"],"windowsSandboxPrivateDesktop":false)";
  const std::string latest = paths +
                             R"(,"workspaceRoots":["file:///w"],"windowsSandboxProxySettingsMode":"reconcile",)"
                             R"("policyContext":{"cwd":"file:///w","workspaceRoots":["file:///w"]},"later":{},)"
                             R"("userHomeDir":"file:///home/me","temporaryDirectories":[],"sandboxOverride":null)";
  for (const char* permissions :
       {kReadOnly, kProject, R"({"type":"disabled"})", R"({"type":"external","network":"enabled"})",
        R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"enabled"})",
        R"({"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":"special","value":)"
        R"({"kind":"root"}},"access":"read"},{"path":{"type":"path","path":"file:///w"},"access":"write"}]},)"
        R"("network":"restricted"})",
        R"({"network":{"enabled":true},"file_system":{"read":["/"],"write":["/w"]}})", R"({"network":null})"}) {
    for (const std::string& text : {paths, more, latest}) {
      const auto spec = Spec(Text(permissions, text));
      EXPECT_TRUE(spec) << permissions << text << spec.error().message;
    }
  }
  EXPECT_TRUE(Spec(R"({"type":"read-only","cwd":"/w","windowsSandboxLevel":"disabled","sandboxOverride":null})"));
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
  EXPECT_EQ((*spec)->profile.policy.network, Network::kRestricted);
  EXPECT_EQ((*spec)->policy_cwd, "/server");
}

TEST(FileSandboxTest, DoesNotGuessWhereTheProjectIs) {
  EXPECT_THAT(FileSpec(Text(kProject)).error().message, HasSubstr("sandbox.cwd: is missing"));
  EXPECT_TRUE(FileSpec(Text(kProject, R"(,"cwd":"/w")")));
}

Result<> NetworkOf(const std::string& text) {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  TRY(const wire::Sandbox sandbox, wire::Decode<wire::Sandbox>(json));
  return CheckNetworkAllowed(sandbox, "/server");
}

TEST(NetworkSandboxTest, AllowsWhatHasANetwork) {
  EXPECT_TRUE(CheckNetworkAllowed(std::nullopt, "/server"));
  EXPECT_TRUE(NetworkOf(Text(kReadOnly)));
  EXPECT_TRUE(NetworkOf(Text(R"({"type":"disabled"})")));
  EXPECT_TRUE(NetworkOf(Text(R"({"type":"external","network":"enabled"})")));
}

TEST(NetworkSandboxTest, RefusesTheRest) {
  for (const std::string& text :
       {Text(kProject), Text(R"({"type":"external","network":"restricted"})"), Text(R"({"type":"later"})"),
        Text(R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted"})"),
        std::string(R"({"type":"read-only"})")}) {
    const Result<> outcome = NetworkOf(text);
    ASSERT_FALSE(outcome) << text;
    EXPECT_EQ(outcome.error().kind, ErrorKind::kInvalidParams);
  }
}

// Returns a sandbox with the project roots /w and /v, whose policy has one entry.
SandboxSpec WithEntry(const std::string& path, const std::string& access, const std::string& more = "") {
  const std::string permissions = R"({"type":"managed","file_system":{"type":"restricted","entries":[{"path":)" + path +
                                  R"(,"access":")" + access + "\"" + more + R"(}]},"network":"restricted"})";
  auto spec = Spec(Text(permissions, R"(,"cwd":"/w","workspaceRoots":["/w","/v"])"));
  EXPECT_TRUE(spec) << spec.error().message;
  return spec.value_or(SandboxSpec{});
}
std::string InProject(const std::string& subpath) {
  return R"({"type":"special","value":{"kind":"project_roots","subpath":")" + subpath + R"("}})";
}
std::string At(const std::string& path) { return R"({"type":"path","path":")" + path + R"("})"; }

TEST(SandboxSpecTest, KnowsWhetherItMayProtectAnyName) {
  EXPECT_TRUE(MayProtectAnyName(WithEntry(InProject("secret"), "deny")));
  EXPECT_TRUE(MayProtectAnyName(WithEntry(InProject(".a/b"), "read")));
  EXPECT_TRUE(MayProtectAnyName(WithEntry(At("/w/secret"), "deny")));
  EXPECT_TRUE(MayProtectAnyName(WithEntry(At("/w/below/.env"), "deny"))) << "the directory may be missing";
  EXPECT_TRUE(MayProtectAnyName(WithEntry(At("/elsewhere/.env"), "read")));
  EXPECT_FALSE(MayProtectAnyName(WithEntry(InProject(".git"), "read")));
  EXPECT_FALSE(MayProtectAnyName(WithEntry(InProject(".a/.b"), "read")));
  EXPECT_FALSE(MayProtectAnyName(WithEntry(At("/w/.git"), "read")));
  EXPECT_FALSE(MayProtectAnyName(WithEntry(At("/v/.env"), "deny")));
  EXPECT_FALSE(MayProtectAnyName(WithEntry(At("/"), "read")));
  EXPECT_FALSE(MayProtectAnyName(WithEntry(At("/w/below"), "write")));
  EXPECT_FALSE(MayProtectAnyName(WithEntry(InProject("x"), "read", R"(,"missing_path_behavior":"skip")")));
  EXPECT_FALSE(MayProtectAnyName(*Spec(Text(kReadOnly))));
  EXPECT_FALSE(MayProtectAnyName(*Spec(Text(kProject))));
}

}  // namespace
}  // namespace holdfast::sandbox
