#include "sandbox/policy/profile_file.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/location.h"
#include "sandbox/policy/policy_text.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Outcome(std::string_view toml, std::string_view home = "/home/me") {
  const auto policy = ParseFileProfile({toml, "f", home}, "p");
  return policy ? Text(*policy) : policy.error().message;
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

TEST(LoadProfileTest, ReadsTheFileAndHome) {
  const support::ScratchDir dir;
  const std::string path = dir.Write("c.toml", "[permissions.p.filesystem]\n\"~/x\" = \"write\"\n");
  const char* home = std::getenv("HOME");
  const std::string before = home != nullptr ? home : "";
  ASSERT_EQ(setenv("HOME", "/elsewhere", 1), 0);
  const auto policy = LoadProfile(path, "p");
  ASSERT_EQ(home != nullptr ? setenv("HOME", before.c_str(), 1) : unsetenv("HOME"), 0);
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ(Text(*policy), "/elsewhere/x write");
}

TEST(LoadProfileTest, NamesTheFileThatCannotBeRead) {
  const support::ScratchDir dir;
  const auto missing = LoadProfile(dir.path() + "/none", "p");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error(), ErrnoError("open", dir.path() + "/none", ENOENT));
  const auto directory = LoadProfile(dir.path(), "p");
  ASSERT_FALSE(directory.has_value());
  EXPECT_EQ(directory.error(), ErrnoError("read", dir.path(), EISDIR));
}

TEST(LoadProfileTest, StopsReadingAFileThatDoesNotEnd) {
  const auto policy = LoadProfile("/dev/zero", "p");
  ASSERT_FALSE(policy.has_value());
  EXPECT_EQ(policy.error(), (Error{ErrorKind::kLimit, "read /dev/zero: longer than 1048576 bytes"}));
}

TEST(FeaturesTest, LegacyLandlockIsOffUnlessAskedFor) {
  EXPECT_EQ(ParseFeatures("", "f"), Features{});
  EXPECT_EQ(ParseFeatures("[features]\nother = 1\n", "f"), Features{});
  EXPECT_EQ(ParseFeatures("[features]\nuse_legacy_landlock = false\n", "f"), Features{});
  EXPECT_EQ(ParseFeatures("features.use_legacy_landlock = true\n", "f"), Features{.use_legacy_landlock = true});
}

TEST(FeaturesTest, ErrorsNameFileLineAndKey) {
  const auto features = ParseFeatures("[features]\nuse_legacy_landlock = 1\n", "f");
  ASSERT_FALSE(features.has_value());
  EXPECT_EQ(features.error().message, "profile f:2: features.use_legacy_landlock: expected true or false");
  EXPECT_THAT(ParseFeatures("[features\n", "f").error().message, StartsWith("profile f:1: "));
  EXPECT_EQ(ParseFeatures("x = 1\nfeatures = 3\n", "f").error().message, "profile f:2: features: expected a table");
}

TEST(FeaturesTest, ComeFromAFile) {
  const support::ScratchDir dir;
  EXPECT_EQ(LoadFeatures(dir.Write("c.toml", "[features]\nuse_legacy_landlock = true\n")),
            Features{.use_legacy_landlock = true});
  EXPECT_EQ(LoadFeatures(dir.path() + "/none").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace holdfast::sandbox
