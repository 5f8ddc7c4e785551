// Tests with profiles as published clients send them.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy_text.h"

namespace holdfast::sandbox {
namespace {

std::string Outcome(std::string_view json) {
  const Result<Profile> profile = ParseProfile(json);
  return profile ? Text(profile->policy) : profile.error().message;
}

constexpr std::string_view kWorkspaceWrite =
    R"({"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
       {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"},
       {"path": {"type": "special", "value": {"kind": "project_roots", "subpath": ".git"}}, "access": "read"},
       {"path": {"type": "special", "value": {"kind": "project_roots", "subpath": ".agents"}}, "access": "read"},
       {"path": {"type": "special", "value": {"kind": "project_roots", "subpath": ".codex"}}, "access": "read"})";
constexpr std::string_view kWorkspaceWriteText =
    ":root read, :project write, :project/.git read, :project/.agents read, :project/.codex read";

// Returns the workspace-write profile with further entries.
std::string Workspace(std::string_view more, std::string_view network = "restricted") {
  return fmt::format(
      R"({{"type": "managed", "file_system": {{"type": "restricted", "entries": [{}{}]}}, "network": "{}"}})",
      kWorkspaceWrite, more, network);
}

std::string WorkspaceText(std::string_view more) { return fmt::format("{}{}", kWorkspaceWriteText, more); }

TEST(ClientProfilesTest, ReadOnly) {
  EXPECT_EQ(Outcome(R"({"type":"managed","file_system":{"type":"restricted","entries":[
      {"path":{"type":"special","value":{"kind":"root"}},"access":"read"}]},"network":"restricted"})"),
            ":root read");
}

TEST(ClientProfilesTest, WorkspaceWrite) {
  EXPECT_EQ(Outcome(Workspace("")), WorkspaceText(""));
  EXPECT_EQ(Outcome(Workspace("", "enabled")), WorkspaceText("; network"));
}

TEST(ClientProfilesTest, WorkspaceWriteWithTemporaryDirectories) {
  EXPECT_EQ(Outcome(Workspace(R"(,
      {"path": {"type": "special", "value": {"kind": "slash_tmp"}}, "access": "write"},
      {"path": {"type": "special", "value": {"kind": "tmpdir"}}, "access": "write"})")),
            WorkspaceText(", :slash_tmp write, :tmpdir write"));
}

TEST(ClientProfilesTest, SecondWritableRoot) {
  EXPECT_EQ(Outcome(Workspace(R"(, {"path": {"type": "path", "path": "/tmp/p/out"}, "access": "write"})")),
            WorkspaceText(", /tmp/p/out write"));
}

TEST(ClientProfilesTest, DeniedPathsInBothSpellings) {
  for (const std::string_view word : {"none", "deny"}) {
    const auto denied = [&](std::string_view path) {
      return fmt::format(R"(, {{"path": {{"type": "path", "path": "{}"}}, "access": "{}"}})", path, word);
    };
    EXPECT_EQ(Outcome(Workspace(denied("/p/out/secretdir") + denied("/p/out/secret.txt") + denied("/p/ws/nope/deep"))),
              WorkspaceText(", /p/out/secretdir deny, /p/out/secret.txt deny, /p/ws/nope/deep deny"));
  }
}

TEST(ClientProfilesTest, DeniedPattern) {
  EXPECT_EQ(
      Outcome(Workspace(R"(, {"path": {"type": "glob_pattern", "pattern": "/p/ws/**/*.env"}, "access": "deny"})")),
      WorkspaceText(", pattern /p/ws/**/*.env deny"));
}

TEST(ClientProfilesTest, ReopenedBelowDenied) {
  EXPECT_EQ(Outcome(R"({"type":"managed","file_system":{"type":"restricted","entries":[
      {"path":{"type":"special","value":{"kind":"root"}},"access":"read"},
      {"path":{"type":"path","path":"/repo"},"access":"write"},
      {"path":{"type":"path","path":"/repo/a"},"access":"none"},
      {"path":{"type":"path","path":"/repo/a/b"},"access":"write"}]},"network":"restricted"})"),
            ":root read, /repo write, /repo/a deny, /repo/a/b write");
}

TEST(ClientProfilesTest, Minimal) {
  EXPECT_EQ(Outcome(R"({"type":"managed","file_system":{"type":"restricted","entries":[
      {"path":{"type":"special","value":{"kind":"minimal"}},"access":"read"},
      {"path":{"type":"special","value":{"kind":"project_roots"}},"access":"write"},
      {"path":{"type":"path","path":"/opt/tools"},"access":"read"}]},"network":"restricted"})"),
            ":minimal read, :project write, /opt/tools read");
}

TEST(ClientProfilesTest, NetworkOnly) {
  EXPECT_EQ(Outcome(R"({"type": "managed", "file_system": {"type": "unrestricted"}, "network": "restricted"})"),
            "all files");
}

TEST(ClientProfilesTest, PathsOfTheThreeGenerations) {
  for (const std::string_view path : {"/tmp/x/w", "file:///tmp/x/w"}) {
    EXPECT_EQ(Outcome(fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[
        {{"path":{{"type":"path","path":"{}"}},"access":"write","missing_path_behavior":"skip"}}]}},"network":"enabled"}})",
                                  path)),
              "/tmp/x/w write if there; network");
  }
}

}  // namespace
}  // namespace holdfast::sandbox
