#include "sandbox/policy/profile_file.h"

#include <cerrno>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/location.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy_text.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Outcome(std::string_view toml, std::string_view home = "/home/me") {
  const auto file = ParseProfileFile({toml, "f", home}, "p");
  return file ? Text(file->chosen->policy) : file.error().message;
}

// Returns what a file chooses by itself.
std::string Choice(std::string_view toml) {
  const auto file = ParseProfileFile({toml, "f", "/home/me"}, "");
  if (!file) return file.error().message;
  if (!file->chosen) return file->undecided.empty() ? "nothing" : file->undecided;
  return file->chosen->type == ProfileType::kDisabled ? "no sandbox" : Text(file->chosen->policy);
}

// Returns the outcome of parsing a profile with one entry.
std::string OneEntry(std::string_view line, std::string_view home = "/home/me") {
  return Outcome(fmt::format("[permissions.p.filesystem]\n{}", line), home);
}

std::string OneProjectEntry(std::string_view line) {
  return Outcome(fmt::format("[permissions.p.filesystem.\":project_roots\"]\n{}", line));
}

TEST(ProfileFileTest, CapsTheScanOfPatternsBelowTheProject) {
  EXPECT_EQ(Outcome(R"(
[permissions.p.filesystem]
glob_scan_max_depth = 2

[permissions.p.filesystem.":project_roots"]
"**/*.env" = "none"
)"),
            "pattern **/*.env deny, depth 2");
}

TEST(ProfileFileTest, ReadsEverythingThatTheHeaderShows) {
  EXPECT_EQ(Outcome(R"(
[permissions.p]
description = "for work"
[permissions.p.filesystem]
glob_scan_max_depth = 2
":root" = "read"
"/srv/data" = "write"
"~/.ssh" = "deny"
"/srv/**/*.key" = "deny"
[permissions.p.filesystem.":project_roots"]
"." = "write"
"docs" = "read"
"**/*.env" = "none"
[permissions.p.network]
enabled = true
)"),
            "pattern /srv/**/*.key deny, /srv/data write, pattern **/*.env deny, :project write, :project/docs read, "
            ":root read, /home/me/.ssh deny, depth 2; network");
}

TEST(ProfileFileTest, EveryPlaceHasAName) {
  EXPECT_EQ(OneEntry(R"(":root" = "read")"), ":root read");
  EXPECT_EQ(OneEntry(R"(":minimal" = "read")"), ":minimal read");
  EXPECT_EQ(OneEntry(R"(":tmpdir" = "write")"), ":tmpdir write");
  EXPECT_EQ(OneEntry(R"(":slash_tmp" = "deny")"), ":slash_tmp deny");
  EXPECT_EQ(OneEntry(R"(":project_roots" = "write")"), ":project write");
  EXPECT_EQ(OneEntry(R"(":workspace_roots" = "write")"), ":project write");
  EXPECT_EQ(OneEntry(R"(":workspace_roots" = {"a" = "write"})"), ":project/a write");
}

TEST(ProfileFileTest, EveryWordForAccess) {
  EXPECT_EQ(OneEntry(R"("/a" = "read")"), "/a read");
  EXPECT_EQ(OneEntry(R"("/a" = "write")"), "/a write");
  EXPECT_EQ(OneEntry(R"("/a" = "none")"), "/a deny");
  EXPECT_EQ(OneEntry(R"("/a" = "deny")"), "/a deny");
}

TEST(ProfileFileTest, TildeIsTheHomeDirectory) {
  EXPECT_EQ(OneEntry(R"("~" = "read")"), "/home/me read");
  EXPECT_EQ(OneEntry(R"("~/a/../b" = "read")"), "/home/me/b read");
  EXPECT_EQ(OneEntry(R"("~/**/*.key" = "deny")"), "pattern /home/me/**/*.key deny");
  EXPECT_EQ(OneEntry(R"("~" = "read")", "/"), "/ read");
}

TEST(ProfileFileTest, TildeNeedsAHomeThatIsUsable) {
  EXPECT_THAT(OneEntry(R"("~/a" = "read")", ""), HasSubstr("HOME is not an absolute path"));
  EXPECT_THAT(OneEntry(R"("~/a" = "read")", "me"), HasSubstr("HOME is not an absolute path"));
  EXPECT_THAT(OneEntry(R"("~you/a" = "read")"), HasSubstr("stand for a home directory"));
}

TEST(ProfileFileTest, AHomeThatLooksLikeAPatternIsNotOne) {
  EXPECT_EQ(OneEntry(R"("~/a" = "deny")", "/home/[me]"), "/home/[me]/a deny");
  EXPECT_THAT(OneEntry(R"("~/*.key" = "deny")", "/home/[me]"),
              HasSubstr("HOME has characters that would be wildcards in the pattern"));
}

TEST(ProfileFileTest, EverythingBelowADirectoryIsTheDirectory) {
  EXPECT_EQ(OneEntry(R"("/a/**" = "write")"), "/a write");
  EXPECT_EQ(OneEntry(R"("/a/**" = "deny")"), "/a deny");
  EXPECT_EQ(OneEntry(R"("/**" = "read")"), "/ read");
  EXPECT_EQ(OneEntry(R"("~/**" = "read")"), "/home/me read");
  EXPECT_EQ(OneEntry(R"("/a*/**" = "deny")"), "pattern /a*/** deny");
  EXPECT_EQ(OneProjectEntry(R"(".git/**" = "write")"), ":project/.git write");
  EXPECT_EQ(OneProjectEntry(R"("**" = "write")"), ":project write");
}

TEST(ProfileFileTest, EveryCharacterOfPatternsMakesOne) {
  for (const std::string_view name : {"*", "?", "[", "]", "{", "}", "\\\\"}) {
    EXPECT_THAT(OneEntry(fmt::format("\"/a{}\" = \"deny\"", name)), StartsWith("pattern /a")) << name;
    EXPECT_THAT(OneProjectEntry(fmt::format("\"a{}\" = \"deny\"", name)), StartsWith("pattern a")) << name;
  }
}

TEST(ProfileFileTest, RelativeKeysAreRefused) {
  for (const std::string_view key : {"a", "./a", "../a", "*.env", "file:///a", ""}) {
    EXPECT_EQ(OneEntry(fmt::format("\"{}\" = \"deny\"", key)),
              fmt::format("profile f:2: permissions.p.filesystem.{}: is neither absolute nor below \"~/\"",
                          key == "a" ? "a" : fmt::format("\"{}\"", key)));
  }
}

TEST(ProfileFileTest, ProjectKeysAreRelative) {
  const std::string_view start = R"(profile f:2: permissions.p.filesystem.":project_roots")";
  EXPECT_EQ(OneProjectEntry(R"("/a" = "read")"), fmt::format(R"({}."/a": is not a relative path)", start));
  EXPECT_EQ(OneProjectEntry(R"("/*" = "deny")"), fmt::format(R"({}."/*": is not a relative path)", start));
  EXPECT_EQ(OneProjectEntry(R"("../a" = "read")"), fmt::format(R"({}."../a": contains "..")", start));
  EXPECT_EQ(OneProjectEntry(R"("a/../*" = "deny")"), fmt::format(R"({}."a/../*": contains "..")", start));
  EXPECT_EQ(OneProjectEntry(R"("" = "read")"), fmt::format(R"({}."": is empty)", start));
}

TEST(ProfileFileTest, OnlyDenialsCanBePatterns) {
  EXPECT_EQ(OneEntry(R"("/a/*.c" = "read")"),
            R"(profile f:2: permissions.p.filesystem."/a/*.c": a pattern can only be denied)");
  EXPECT_THAT(OneProjectEntry(R"("*.c" = "write")"), HasSubstr("a pattern can only be denied"));
}

TEST(ProfileFileTest, ErrorsNameFileLineAndKey) {
  EXPECT_EQ(Outcome("# a comment\n\n[permissions.p.filesystem]\n\n\"/a\" = \"rw\"\n"),
            R"(profile f:5: permissions.p.filesystem."/a": expected "read", "write", "deny" or "none")");
  EXPECT_EQ(Outcome("[permissions.p]\nfilesystem = {\"/a\" = true}\n"),
            R"(profile f:2: permissions.p.filesystem."/a": expected "read", "write", "deny" or "none")");
  EXPECT_THAT(Outcome("[permissions.p.filesystem]\n\"/a\" =\n"), StartsWith("profile f:2: "));
}

TEST(ProfileFileTest, MalformedFilesAreRefused) {
  for (const std::string_view toml :
       {"[&", "[[=", "[[[1]]]", "\u00e9 = 1", "\u3042 = 1", "a = \ufebf", "[\u00e9]", "="}) {
    EXPECT_THAT(Outcome(toml), StartsWith("profile f:1: ")) << toml;
  }
}

TEST(ProfileFileTest, DeepNestingDoesNotExhaustTheStack) {
  std::string key = "a";
  for (int i = 0; i < 16'384; ++i) key += ".a";
  EXPECT_EQ(Outcome(key + " = 1"), "profile f: has no table permissions.p");
  EXPECT_EQ(Outcome(key + ".a = 1"), "profile f: more than 16384 dots");
  EXPECT_THAT(Outcome("a = " + std::string(100'000, '[')), StartsWith("profile f:1: "));
}

TEST(ProfileFileTest, KeysMayHoldAnyLetter) {
  EXPECT_EQ(OneEntry("\"/caf\u00e9/\u3042\" = \"read\" # \u00e9"), "/caf\u00e9/\u3042 read");
}

TEST(ProfileFileTest, MistypedKeysAreRefused) {
  EXPECT_EQ(OneEntry(R"(":projct_roots" = "write")"),
            R"(profile f:2: permissions.p.filesystem.":projct_roots": is not a known place)");
  EXPECT_EQ(OneEntry(R"(":current_working_directory" = "read")"),
            R"(profile f:2: permissions.p.filesystem.":current_working_directory": is not a known place)");
  EXPECT_EQ(OneEntry(R"(":unknown" = "read")"),
            R"(profile f:2: permissions.p.filesystem.":unknown": is not a known place)");
  EXPECT_EQ(Outcome("[permissions.p]\nextends = \"x\""), "profile f:2: permissions.p.extends: is not a known key");
  EXPECT_EQ(Outcome("[permissions.p.network]\ndomains = {}"),
            "profile f:2: permissions.p.network.domains: is not a known key");
}

TEST(ProfileFileTest, WrongTypesAreRefused) {
  EXPECT_EQ(Outcome("[permissions]\np = 1"), "profile f:2: permissions.p: expected a table");
  EXPECT_EQ(Outcome("[permissions.p]\nfilesystem = \"all\""),
            "profile f:2: permissions.p.filesystem: expected a table");
  EXPECT_EQ(Outcome("[permissions.p]\nnetwork = true"), "profile f:2: permissions.p.network: expected a table");
  EXPECT_EQ(Outcome("[permissions.p]\ndescription = 1"), "profile f:2: permissions.p.description: expected a string");
  EXPECT_EQ(Outcome("[permissions.p.network]\nenabled = 1"),
            "profile f:2: permissions.p.network.enabled: expected true or false");
  EXPECT_EQ(OneEntry(R"("/a" = {"b" = "read"})"),
            R"(profile f:2: permissions.p.filesystem."/a": only ":project_roots" can be a table)");
}

TEST(ProfileFileTest, ScanDepthIsFromOne) {
  EXPECT_EQ(OneEntry("glob_scan_max_depth = 1"), "no files, depth 1");
  for (const std::string_view depth : {"0", "-1", "1.0", "\"1\""}) {
    EXPECT_EQ(OneEntry(fmt::format("glob_scan_max_depth = {}", depth)),
              "profile f:2: permissions.p.filesystem.glob_scan_max_depth: expected a whole number of at least 1");
  }
}

TEST(ProfileFileTest, NoNetworkUnlessEnabled) {
  EXPECT_EQ(OneEntry("\"/\" = \"read\"\n[permissions.p.network]"), "/ read");
  EXPECT_EQ(OneEntry("\"/\" = \"read\"\n[permissions.p.network]\nenabled = false"), "/ read");
  EXPECT_EQ(OneEntry("\"/\" = \"read\"\n[permissions.p.network]\nenabled = true"), "/ read; network");
}

TEST(ProfileFileTest, AProfileSaysSomethingAboutFiles) {
  EXPECT_EQ(Outcome("[permissions.p.network]\nenabled = true"),
            "profile f:1: permissions.p: has no table filesystem, so the command could not read any file");
}

TEST(ProfileFileTest, OnlyTheNamedProfileIsLookedAt) {
  EXPECT_EQ(Outcome("model = 1\n[permissions.q]\nlater = 1\n[permissions.p.filesystem]\n\"/a\" = \"read\"\n"),
            "/a read");
}

TEST(ProfileFileTest, AMissingProfileIsNamedWithThoseThereAre) {
  EXPECT_EQ(Outcome(""), "profile f: has no table permissions.p");
  EXPECT_EQ(Outcome("permissions = 1"), "profile f: has no table permissions.p");
  EXPECT_EQ(Outcome("[permissions.a]\n[permissions.b]\n"),
            "profile f: has no table permissions.p; its profiles are a, b");
}

TEST(ProfileFileTest, EntriesAreCounted) {
  std::string lines;
  for (size_t i = 0; i < kMaxEntries; ++i) lines += fmt::format("\"/a/{}\" = \"read\"\n", i);
  EXPECT_THAT(OneEntry(lines), StartsWith("/a/0 read"));
  EXPECT_THAT(OneEntry(lines + "\"/b\" = \"read\"\n"), HasSubstr("\"/b\": too many entries"));
}

constexpr std::string_view kReadOnlyText = ":root read";
constexpr std::string_view kWorkspaceText = ":root read, :project write, :slash_tmp write, :tmpdir write";

TEST(SandboxModeTest, IsTheLegacyPolicyOfThatName) {
  EXPECT_EQ(Choice(R"(sandbox_mode = "read-only")"), kReadOnlyText);
  EXPECT_EQ(Choice(R"(sandbox_mode = "workspace-write")"), kWorkspaceText);
  EXPECT_EQ(Choice(R"(sandbox_mode = "danger-full-access")"), "no sandbox");
}

TEST(SandboxModeTest, HasTheSettingsOfItsTable) {
  EXPECT_EQ(Choice(R"(
model = "m"
sandbox_mode = "workspace-write"
[sandbox_workspace_write]
writable_roots = ["/srv/data", "~/cache", "/odd/[x]"]
network_access = true
exclude_tmpdir_env_var = true
exclude_slash_tmp = true
)"),
            ":root read, :project write, /srv/data write, /home/me/cache write, /odd/[x] write; network");
}

TEST(SandboxModeTest, TheTableIsOnlyAboutThatMode) {
  EXPECT_EQ(Choice("sandbox_mode = \"read-only\"\n[sandbox_workspace_write]\nnetwork_access = true"), kReadOnlyText);
}

TEST(SandboxModeTest, MistakesNameTheLineAndTheKey) {
  EXPECT_EQ(Choice("sandbox_mode = \"workspace\""),
            "profile f:1: sandbox_mode: expected \"read-only\", \"workspace-write\" or \"danger-full-access\"");
  EXPECT_EQ(Choice("sandbox_mode = 1"),
            "profile f:1: sandbox_mode: expected \"read-only\", \"workspace-write\" or \"danger-full-access\"");
  const auto setting = [](std::string_view line) {
    return Choice(fmt::format("sandbox_mode = \"read-only\"\n[sandbox_workspace_write]\n{}", line));
  };
  EXPECT_EQ(setting("writable_root = []"), "profile f:3: sandbox_workspace_write.writable_root: is not a known key");
  EXPECT_EQ(setting("writable_roots = \"/a\""),
            "profile f:3: sandbox_workspace_write.writable_roots: expected a list of paths");
  EXPECT_EQ(setting("writable_roots = [1]"), "profile f:3: sandbox_workspace_write.writable_roots: expected a string");
  EXPECT_EQ(setting("writable_roots = [\"a\"]"),
            "profile f:3: sandbox_workspace_write.writable_roots: \"a\" is neither absolute nor below \"~/\"");
  EXPECT_EQ(setting("network_access = 1"),
            "profile f:3: sandbox_workspace_write.network_access: expected true or false");
  EXPECT_EQ(Choice("sandbox_workspace_write = 1"), "profile f:1: sandbox_workspace_write: expected a table");
}

// A mistyped key would leave the command without the restriction that was meant.
TEST(SandboxModeTest, KeysThatLookLikeOursAreRefused) {
  for (const std::string_view key : {"sandbox-mode", "sandbox_modes", "sandbox", "permission", "default_permission"}) {
    EXPECT_EQ(Choice(fmt::format("{} = 1", key)), fmt::format("profile f:1: {}: is not a known key", key));
  }
  EXPECT_EQ(Outcome("sandbox_mod = 1\n[permissions.p.filesystem]\n\"/a\" = \"read\""),
            "profile f:1: sandbox_mod: is not a known key");
}

TEST(FileChoiceTest, AFileOfCodexThatIsNotAboutSandboxesChoosesNothing) {
  EXPECT_EQ(Choice(R"(
model = "m"
approval_policy = "never"
[features]
other = true
[mcp_servers.x]
command = "x"
[shell_environment_policy]
inherit = "core"
)"),
            "nothing");
}

TEST(FileChoiceTest, TheDefaultProfileHolds) {
  constexpr std::string_view rest = "\n[permissions.q.filesystem]\n\"/a\" = \"read\"\n";
  EXPECT_EQ(Choice(fmt::format("default_permissions = \"q\"{}", rest)), "/a read");
  EXPECT_EQ(Choice(fmt::format("default_permissions = \":read-only\"{}", rest)), kReadOnlyText);
  EXPECT_EQ(Choice("default_permissions = \":workspace\""), kWorkspaceText);
  EXPECT_EQ(Choice("default_permissions = \":danger-full-access\""), "no sandbox");
  EXPECT_EQ(Choice(fmt::format("default_permissions = \"r\"{}", rest)),
            "profile f: has no table permissions.r; its profiles are q");
  EXPECT_EQ(Choice("default_permissions = 1"), "profile f:1: default_permissions: expected a string");
}

TEST(FileChoiceTest, OldAndNewSettingsContradict) {
  EXPECT_EQ(Choice("sandbox_mode = \"read-only\"\ndefault_permissions = \":workspace\""),
            "profile f:2: default_permissions: contradicts sandbox_mode; remove one of the two");
}

TEST(FileChoiceTest, AFileThatDoesNotChooseSaysWhatToDo) {
  EXPECT_EQ(Choice("[permissions.a]\n[permissions.b]"),
            "profile f: chooses none of its profiles; name one by --profile: a, b");
  EXPECT_EQ(Choice("[sandbox_workspace_write]\nnetwork_access = true"),
            "profile f: has a table sandbox_workspace_write, but no sandbox_mode; add sandbox_mode = "
            "\"workspace-write\", or give --workspace-write");
}

TEST(FileChoiceTest, TheActiveProfileOfCodexHolds) {
  constexpr std::string_view file = "profile = \"work\"\nsandbox_mode = \"workspace-write\"\n[profiles.work]\n{}";
  EXPECT_EQ(Choice(fmt::format(fmt::runtime(file), "sandbox_mode = \"read-only\"")), kReadOnlyText);
  EXPECT_EQ(Choice(fmt::format(fmt::runtime(file), "default_permissions = \":read-only\"")), kReadOnlyText);
  EXPECT_EQ(Choice(fmt::format(fmt::runtime(file), "model = \"m\"")), kWorkspaceText);
  EXPECT_EQ(Choice(fmt::format(fmt::runtime(file), "sandbox_workspace_write = {}")),
            "profile f:4: profiles.work.sandbox_workspace_write: is not a known key");
}

TEST(FileChoiceTest, TheNameThatIsAskedForHolds) {
  EXPECT_EQ(Outcome("sandbox_mode = \"workspace-write\"\n[permissions.p.filesystem]\n\"/a\" = \"read\""), "/a read");
}

// The option --workspace-write means this policy.
TEST(FileChoiceTest, WorkspaceWriteHasTheSettingsOfTheFile) {
  const auto file = ParseProfileFile({"[sandbox_workspace_write]\nexclude_slash_tmp = true", "f", ""}, "");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(Text(file->workspace_write), ":root read, :project write, :tmpdir write");
}

TEST(LoadProfileFileTest, ReadsTheFile) {
  const support::ScratchDir dir;
  const std::string path = dir.Write("c.toml", "[permissions.p.filesystem]\n\"~/x\" = \"write\"\n");
  const auto file = LoadProfileFile(path, "/elsewhere", "p");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(Text(file->chosen->policy), "/elsewhere/x write");
}

TEST(LoadProfileFileTest, NamesTheFileThatCannotBeRead) {
  const support::ScratchDir dir;
  const auto missing = LoadProfileFile(dir.path() + "/none", "", "p");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error(), ErrnoError("open", dir.path() + "/none", ENOENT));
  const auto directory = LoadProfileFile(dir.path(), "", "p");
  ASSERT_FALSE(directory.has_value());
  EXPECT_EQ(directory.error(), ErrnoError("read", dir.path(), EISDIR));
}

TEST(LoadProfileFileTest, StopsReadingAFileThatDoesNotEnd) {
  const auto file = LoadProfileFile("/dev/zero", "", "p");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error(), (Error{ErrorKind::kLimit, "read /dev/zero: longer than 1048576 bytes"}));
}

// Returns whether the file prefers Landlock, as text, or the error.
std::string LegacyLandlock(std::string_view toml) {
  const auto file = ParseProfileFile({toml, "f", ""}, "");
  if (!file) return file.error().message;
  return file->use_legacy_landlock ? "on" : "off";
}

TEST(FeaturesTest, LegacyLandlockIsOffUnlessAskedFor) {
  EXPECT_EQ(LegacyLandlock(""), "off");
  EXPECT_EQ(LegacyLandlock("[features]\nother = 1\n"), "off");
  EXPECT_EQ(LegacyLandlock("[features]\nuse_legacy_landlock = false\n"), "off");
  EXPECT_EQ(LegacyLandlock("features.use_legacy_landlock = true\n"), "on");
}

TEST(FeaturesTest, ErrorsNameFileLineAndKey) {
  EXPECT_EQ(LegacyLandlock("[features]\nuse_legacy_landlock = 1\n"),
            "profile f:2: features.use_legacy_landlock: expected true or false");
  EXPECT_THAT(LegacyLandlock("[features\n"), StartsWith("profile f:1: "));
  EXPECT_EQ(LegacyLandlock("x = 1\nfeatures = 3\n"), "profile f:2: features: expected a table");
}

}  // namespace
}  // namespace holdfast::sandbox
