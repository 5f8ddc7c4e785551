#include "sandbox/policy/permission_profile.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/location.h"
#include "sandbox/policy/policy_text.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Returns the policy as text, or the error message.
std::string Outcome(std::string_view json) {
  const Result<Profile> profile = ParseProfile(json);
  return profile ? Text(profile->policy) : profile.error().message;
}

std::string Managed(std::string_view entries, std::string_view more = "") {
  return fmt::format(
      R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]{}}},"network":"restricted"}})", entries,
      more);
}

std::string EntryWith(std::string_view where, std::string_view access = "read") {
  return fmt::format(R"({{"path":{},"access":"{}"}})", where, access);
}

std::string Path(std::string_view path, std::string_view access) {
  return EntryWith(fmt::format(R"({{"type":"path","path":"{}"}})", path), access);
}

std::string Glob(std::string_view pattern, std::string_view access) {
  return EntryWith(fmt::format(R"({{"type":"glob_pattern","pattern":"{}"}})", pattern), access);
}

std::string Special(std::string_view value, std::string_view access) {
  return EntryWith(fmt::format(R"({{"type":"special","value":{}}})", value), access);
}

std::string Untagged(std::string_view file_system) {
  return fmt::format(R"({{"network":null,"file_system":{}}})", file_system);
}

TEST(PermissionProfileTest, ManagedRestrictsFilesAndNetwork) {
  const auto profile = ParseProfile(Managed(Path("/a", "write")));
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->type, ProfileType::kManaged);
  EXPECT_EQ(Text(profile->policy), "/a write");
}

TEST(PermissionProfileTest, ManagedWithoutEntriesAllowsNothing) { EXPECT_EQ(Outcome(Managed("")), "no files"); }

TEST(PermissionProfileTest, UnrestrictedFilesAreNotADisabledProfile) {
  const auto unrestricted =
      ParseProfile(R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"enabled"})");
  const auto disabled = ParseProfile(R"({"type":"disabled"})");
  ASSERT_TRUE(unrestricted.has_value() && disabled.has_value());
  EXPECT_EQ(unrestricted->policy, disabled->policy);
  EXPECT_EQ(unrestricted->type, ProfileType::kManaged);
  EXPECT_EQ(disabled->type, ProfileType::kDisabled);
}

TEST(PermissionProfileTest, DisabledHasTheNetwork) {
  EXPECT_EQ(Outcome(R"({"type":"disabled"})"), "all files; network");
}

// A client that sends such a profile believes that its rule is enforced.
TEST(PermissionProfileTest, RulesThatItsTypeHasNoUseForAreRefused) {
  EXPECT_EQ(Outcome(R"({"type":"disabled","network":"restricted"})"), "network: is not known");
  EXPECT_EQ(Outcome(R"({"type":"disabled","network":"enabled"})"), "network: is not known");
  EXPECT_EQ(Outcome(R"({"type":"disabled","file_system":{"type":"restricted","entries":[]}})"),
            "file_system: is not known");
  EXPECT_EQ(Outcome(R"({"type":"external","network":"enabled","file_system":{"type":"unrestricted"}})"),
            "file_system: is not known");
  EXPECT_EQ(Outcome(R"({"type":"managed","file_system":{"type":"unrestricted","entries":[]},"network":"enabled"})"),
            "file_system.entries: is not known");
  EXPECT_EQ(Outcome(Managed(R"({"path":{"type":"path","path":"/a","pattern":"/b"},"access":"deny"})")),
            "file_system.entries.0.path.pattern: is not known");
}

TEST(PermissionProfileTest, ExternalKeepsItsNetwork) {
  EXPECT_EQ(Outcome(R"({"type":"external","network":"restricted"})"), "all files");
  EXPECT_EQ(Outcome(R"({"type":"external","network":"enabled"})"), "all files; network");
  EXPECT_EQ(ParseProfile(R"({"type":"external","network":"enabled"})")->type, ProfileType::kExternal);
}

// A member that only a later version knows may restrict the command, and this version would not enforce it.
TEST(PermissionProfileTest, UnknownMembersAreRefusedEverywhere) {
  EXPECT_EQ(Outcome(R"({"type":"disabled","later":1})"), "later: is not known");
  EXPECT_EQ(Outcome(R"({"type":"external","network":"enabled","later":null})"), "later: is not known");
  EXPECT_EQ(Outcome(R"({"type":"managed","later":1,"network":"enabled","file_system":{"type":"unrestricted"}})"),
            "later: is not known");
  EXPECT_EQ(Outcome(R"({"type":"managed","network":"enabled","file_system":{"type":"unrestricted","later":{}}})"),
            "file_system.later: is not known");
  EXPECT_EQ(Outcome(R"({"type":"managed","network":"enabled","file_system":{"type":"restricted","entries":[],"x":1}})"),
            "file_system.x: is not known");
  EXPECT_EQ(Outcome(Managed(R"({"later":[],"path":{"type":"path","path":"/a"},"access":"read"})")),
            "file_system.entries.0.later: is not known");
  EXPECT_EQ(Outcome(Managed(R"({"path":{"type":"path","path":"/a","later":1},"access":"read"})")),
            "file_system.entries.0.path.later: is not known");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"root","later":0})", "read"))),
            "file_system.entries.0.path.value.later: is not known");
}

TEST(PermissionProfileTest, UnknownMembersOfUntaggedProfilesAreRefusedToo) {
  EXPECT_EQ(Outcome(R"({"network":null,"later":1})"), "later: is not known");
  EXPECT_EQ(Outcome(R"({"network":{"enabled":true,"hosts":[]}})"), "network.hosts: is not known");
  EXPECT_EQ(Outcome(R"({"file_system":{"read":["/a"],"deny":["/b"]}})"), "file_system.deny: is not known");
  EXPECT_EQ(Outcome(R"({"file_system":{"entries":null,"read":["/a"]}})"), "/a read");
}

TEST(PermissionProfileTest, LongNamesAreNotRepeated) {
  EXPECT_EQ(Outcome(R"({"type":"disabled",")" + std::string(65, 'x') + R"(":1})"),
            "a member with a long name: is not known");
}

TEST(PermissionProfileTest, EveryWordForAccess) {
  EXPECT_EQ(Outcome(Managed(Path("/a", "read"))), "/a read");
  EXPECT_EQ(Outcome(Managed(Path("/a", "write"))), "/a write");
  EXPECT_EQ(Outcome(Managed(Path("/a", "deny"))), "/a deny");
  EXPECT_EQ(Outcome(Managed(Path("/a", "none"))), "/a deny");
}

TEST(PermissionProfileTest, EveryKindOfPlace) {
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"root"})", "write"))), ":root write");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"minimal"})", "read"))), ":minimal read");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"tmpdir"})", "deny"))), ":tmpdir deny");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"slash_tmp"})", "write"))), ":slash_tmp write");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"project_roots"})", "write"))), ":project write");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"project_roots","subpath":null})", "write"))), ":project write");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"project_roots","subpath":"a/./b"})", "read"))), ":project/a/b read");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"current_working_directory"})", "write"))), ":project write");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"current_working_directory","subpath":"a"})", "deny"))),
            ":project/a deny");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"unknown","path":":later","subpath":"x"})", "write"))),
            ":unknown write");
}

TEST(PermissionProfileTest, PathsAreAbsoluteOrUris) {
  EXPECT_EQ(Outcome(Managed(Path("file:///w%20s/x", "write"))), "/w s/x write");
  EXPECT_EQ(Outcome(Managed(Path("/ws//x/../y/", "write"))), "/ws/y write");
}

TEST(PermissionProfileTest, MissingPathsMayBeSkipped) {
  const std::string entry = R"({"path":{"type":"path","path":"/a"},"access":"deny","missing_path_behavior":)";
  EXPECT_EQ(Outcome(Managed(entry + R"("skip"})")), "/a deny if there");
  EXPECT_EQ(Outcome(Managed(entry + "null}")), "/a deny");
  EXPECT_EQ(Outcome(Managed(entry + R"("make"})")),
            "file_system.entries.0.missing_path_behavior: is not one of the known values");
}

TEST(PermissionProfileTest, ScanDepthIsFromOne) {
  EXPECT_EQ(Outcome(Managed(Glob("*.env", "none"), R"(,"glob_scan_max_depth":1)")), "pattern *.env deny, depth 1");
  EXPECT_EQ(Outcome(Managed(Glob("*.env", "none"), R"(,"glob_scan_max_depth":null)")), "pattern *.env deny");
  EXPECT_EQ(Outcome(Managed("", R"(,"glob_scan_max_depth":0)")), "file_system.glob_scan_max_depth: must be at least 1");
  for (const std::string_view depth : {"-1", "1.5", "\"1\"", "99999999999999999999"}) {
    EXPECT_THAT(Outcome(Managed("", fmt::format(R"(,"glob_scan_max_depth":{})", depth))),
                StartsWith("file_system.glob_scan_max_depth: expected a whole number"));
  }
}

TEST(PermissionProfileTest, OnlyDenialsCanBePatterns) {
  for (const std::string_view access : {"read", "write"}) {
    EXPECT_EQ(Outcome(Managed(Glob("/a/*", access))), "file_system.entries.0.access: a pattern can only be denied");
  }
}

TEST(PermissionProfileTest, RefusesEntriesThatCouldNotBeEnforced) {
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"unknown","path":":later"})", "deny"))),
            "file_system.entries.0.access: an unknown place cannot be denied");
  for (const std::string_view access : {"write", "deny"}) {
    EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"minimal"})", access))),
              "file_system.entries.0.access: the minimal system directories can only be read");
  }
}

TEST(PermissionProfileTest, ErrorsNameTheMember) {
  EXPECT_EQ(Outcome(Managed(Path("/a", "read") + "," + Path("a", "read"))),
            R"(file_system.entries.1.path.path: path "a": not absolute)");
  EXPECT_EQ(Outcome(Managed(Glob("a/../*", "deny"))), R"(file_system.entries.0.path.pattern: contains "..")");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"project_roots","subpath":"../x"})", "read"))),
            R"(file_system.entries.0.path.value.subpath: contains "..")");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"project_roots","subpath":"/x"})", "read"))),
            "file_system.entries.0.path.value.subpath: is not a relative path");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"project_roots","subpath":1})", "read"))),
            "file_system.entries.0.path.value.subpath: expected a string, got a number");
}

TEST(PermissionProfileTest, ASubpathOfAnotherPlaceIsNotDropped) {
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"root","subpath":"etc"})", "write"))),
            "file_system.entries.0.path.value.subpath: only the place project_roots may have a subpath");
}

TEST(PermissionProfileTest, UnlistedWordsAreErrors) {
  EXPECT_EQ(Outcome(R"({"type":"bogus"})"), "type: is not one of the known values");
  EXPECT_EQ(Outcome(R"({"type":"Managed"})"), "type: is not one of the known values");
  EXPECT_EQ(Outcome(R"({"type":"external","network":"on"})"), "network: is not one of the known values");
  EXPECT_EQ(Outcome(R"({"type":"managed","network":"enabled","file_system":{"type":"open"}})"),
            "file_system.type: is not one of the known values");
  EXPECT_EQ(Outcome(Managed(Path("/a", "execute"))), "file_system.entries.0.access: is not one of the known values");
  EXPECT_EQ(Outcome(Managed(EntryWith(R"({"type":"regex"})"))),
            "file_system.entries.0.path.type: is not one of the known values");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"home"})", "read"))),
            "file_system.entries.0.path.value.kind: is not one of the known values");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"workspace_roots"})", "read"))),
            "file_system.entries.0.path.value.kind: is not one of the known values");
}

TEST(PermissionProfileTest, MissingMembersAreErrors) {
  EXPECT_EQ(Outcome("{}"), "type: is missing");
  EXPECT_EQ(Outcome(R"({"type":"managed","file_system":{"type":"unrestricted"}})"), "network: is missing");
  EXPECT_EQ(Outcome(R"({"type":"managed","network":"enabled"})"), "file_system: is missing");
  EXPECT_EQ(Outcome(R"({"type":"external"})"), "network: is missing");
  EXPECT_EQ(Outcome(R"({"type":"managed","network":"enabled","file_system":{}})"), "file_system.type: is missing");
  EXPECT_EQ(Outcome(R"({"type":"managed","network":"enabled","file_system":{"type":"restricted"}})"),
            "file_system.entries: is missing");
  EXPECT_EQ(Outcome(Managed(R"({"access":"read"})")), "file_system.entries.0.path: is missing");
  EXPECT_EQ(Outcome(Managed(R"({"path":{"type":"path","path":"/a"}})")), "file_system.entries.0.access: is missing");
  EXPECT_EQ(Outcome(Managed(EntryWith("{}"))), "file_system.entries.0.path.type: is missing");
  EXPECT_EQ(Outcome(Managed(EntryWith(R"({"type":"path"})"))), "file_system.entries.0.path.path: is missing");
  EXPECT_EQ(Outcome(Managed(EntryWith(R"({"type":"glob_pattern"})"))),
            "file_system.entries.0.path.pattern: is missing");
  EXPECT_EQ(Outcome(Managed(EntryWith(R"({"type":"special"})"))), "file_system.entries.0.path.value: is missing");
  EXPECT_EQ(Outcome(Managed(Special("{}", "read"))), "file_system.entries.0.path.value.kind: is missing");
  EXPECT_EQ(Outcome(Managed(Special(R"({"kind":"unknown"})", "read"))),
            "file_system.entries.0.path.value.path: is missing");
}

TEST(PermissionProfileTest, WrongTypesAreErrors) {
  EXPECT_EQ(Outcome(R"("disabled")"), "profile: expected an object, got a string");
  EXPECT_EQ(Outcome("null"), "profile: expected an object, got null");
  EXPECT_EQ(Outcome(R"({"type":null,"network":null})"), "type: expected a string, got null");
  EXPECT_EQ(Outcome(Managed("[]")), "file_system.entries.0: expected an object, got an array");
  EXPECT_EQ(Outcome(Managed(R"({"path":"/a","access":"read"})")),
            "file_system.entries.0.path: expected an object, got a string");
}

TEST(PermissionProfileTest, TextMustBeJson) {
  EXPECT_FALSE(Outcome("").empty());
  EXPECT_FALSE(ParseProfile(R"({"type":"disabled")").has_value());
  EXPECT_FALSE(ParseProfile(R"({"type":"managed","type":"disabled"})").has_value());
}

TEST(PermissionProfileTest, EntriesAreCounted) {
  std::string entries = Path("/a", "read");
  for (size_t i = 1; i < kMaxEntries; ++i) entries += "," + Path("/a", "read");
  EXPECT_TRUE(ParseProfile(Managed(entries)).has_value());
  EXPECT_EQ(Outcome(Managed(entries + "," + Path("/a", "read"))),
            "file_system.entries: has 4097 entries, but may have at most 4096");
}

TEST(UntaggedProfileTest, ListsBecomeEntries) {
  const auto profile =
      ParseProfile(R"({"network":{"enabled":true},"file_system":{"read":["/a","file:///b"],"write":["/c"]}})");
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->type, ProfileType::kManaged);
  EXPECT_EQ(Text(profile->policy), "/a read, /b read, /c write; network");
}

TEST(UntaggedProfileTest, EitherListMayBeAbsentOrNull) {
  EXPECT_EQ(Outcome(Untagged(R"({"read":["/a"]})")), "/a read");
  EXPECT_EQ(Outcome(Untagged(R"({"read":null,"write":["/a"]})")), "/a write");
  EXPECT_EQ(Outcome(Untagged(R"({"read":[],"write":[]})")), "no files");
}

TEST(UntaggedProfileTest, EntriesAreThoseOfATaggedOne) {
  EXPECT_EQ(Outcome(Untagged(fmt::format(R"({{"entries":[{}],"glob_scan_max_depth":2}})", Glob("*.env", "none")))),
            "pattern *.env deny, depth 2");
}

TEST(UntaggedProfileTest, WhatIsNotGrantedIsNotThere) {
  EXPECT_EQ(Outcome(R"({"network":null,"file_system":null})"), "no files");
  EXPECT_EQ(Outcome(R"({"network":{"enabled":true}})"), "no files; network");
  EXPECT_EQ(Outcome(R"({"network":{}})"), "no files");
  EXPECT_EQ(Outcome(R"({"network":{"enabled":null}})"), "no files");
  EXPECT_EQ(Outcome(R"({"network":{"enabled":false}})"), "no files");
  EXPECT_EQ(Outcome(R"({"file_system":{"read":["/"]}})"), "/ read");
}

TEST(UntaggedProfileTest, RefusesWhatIsNeitherOrBoth) {
  EXPECT_EQ(Outcome(Untagged("{}")), "file_system.entries: give either entries, or read and write");
  EXPECT_EQ(Outcome(Untagged(R"({"entries":[],"read":[]})")),
            "file_system.entries: give either entries, or read and write");
}

TEST(UntaggedProfileTest, ErrorsNameTheMember) {
  EXPECT_EQ(Outcome(Untagged(R"({"read":["/a","b"]})")), R"(file_system.read: path "b": not absolute)");
  EXPECT_EQ(Outcome(Untagged(R"({"write":[1]})")), "file_system.write.0: expected a string, got a number");
  EXPECT_EQ(Outcome(Untagged(R"({"write":"/a"})")), "file_system.write: expected an array, got a string");
  EXPECT_EQ(Outcome(R"({"network":"enabled"})"), "network: expected an object, got a string");
  EXPECT_EQ(Outcome(R"({"network":{"enabled":1}})"), "network.enabled: expected a boolean, got a number");
}

TEST(UntaggedProfileTest, BothListsTogetherAreCounted) {
  std::string half = R"("/a")";
  for (size_t i = 1; i < kMaxEntries / 2; ++i) half += R"(,"/a")";
  EXPECT_TRUE(ParseProfile(Untagged(fmt::format(R"({{"read":[{}],"write":[{}]}})", half, half))).has_value());
  EXPECT_THAT(Outcome(Untagged(fmt::format(R"({{"read":[{},"/b"],"write":[{}]}})", half, half))),
              HasSubstr("file_system.write: read and write together have more than 4096 entries"));
}

}  // namespace
}  // namespace holdfast::sandbox
