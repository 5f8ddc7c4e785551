#include "sandbox/policy/legacy_policy.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox/policy/location.h"
#include "sandbox/policy/policy_text.h"
#include "wire/json.h"

namespace holdfast::sandbox {
namespace {

constexpr std::string_view kWorkspace = ":root read, :project write, :slash_tmp write, :tmpdir write";

Result<Profile> Decode(std::string_view text) {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  return DecodeLegacyPolicy(json);
}

std::string Outcome(std::string_view json) {
  const Result<Profile> profile = Decode(json);
  return profile ? Text(profile->policy) : profile.error().message;
}

TEST(LegacyPolicyTest, DangerIsADisabledProfile) {
  for (const std::string_view tag : {"danger-full-access", "dangerFullAccess"}) {
    const auto profile = Decode(fmt::format(R"({{"type":"{}"}})", tag));
    ASSERT_TRUE(profile.has_value());
    EXPECT_EQ(profile->type, ProfileType::kDisabled);
    EXPECT_EQ(Text(profile->policy), "all files; network");
  }
}

TEST(LegacyPolicyTest, ExternalKeepsItsNetworkWord) {
  for (const std::string_view tag : {"external-sandbox", "externalSandbox"}) {
    const auto profile = Decode(fmt::format(R"({{"type":"{}"}})", tag));
    ASSERT_TRUE(profile.has_value());
    EXPECT_EQ(profile->type, ProfileType::kExternal);
    EXPECT_EQ(Text(profile->policy), "all files");
  }
  EXPECT_EQ(Outcome(R"({"type":"external-sandbox","network_access":"enabled"})"), "all files; network");
  EXPECT_EQ(Outcome(R"({"type":"externalSandbox","networkAccess":"enabled"})"), "all files; network");
  EXPECT_EQ(Outcome(R"({"type":"external-sandbox","network_access":"restricted"})"), "all files");
}

TEST(LegacyPolicyTest, ReadOnlyReadsEverything) {
  EXPECT_EQ(Outcome(R"({"type":"read-only"})"), ":root read");
  EXPECT_EQ(Outcome(R"({"type":"readOnly"})"), ":root read");
  EXPECT_EQ(Outcome(R"({"type":"read-only","network_access":true})"), ":root read; network");
  EXPECT_EQ(Decode(R"({"type":"read-only"})")->type, ProfileType::kManaged);
}

TEST(LegacyPolicyTest, WorkspaceWriteHasDefaults) {
  EXPECT_EQ(Outcome(R"({"type":"workspace-write"})"), kWorkspace);
  EXPECT_EQ(Outcome(R"({"type":"workspaceWrite"})"), kWorkspace);
  EXPECT_EQ(Outcome(R"({"type":"workspace-write","writable_roots":[],"network_access":false,
      "exclude_tmpdir_env_var":false,"exclude_slash_tmp":false})"),
            kWorkspace);
}

TEST(LegacyPolicyTest, WorkspaceWriteInBothSpellings) {
  EXPECT_EQ(Outcome(R"({"type":"workspace-write","writable_roots":["/a","file:///b/../c"],"network_access":true,
      "exclude_tmpdir_env_var":true,"exclude_slash_tmp":false})"),
            ":root read, :project write, :slash_tmp write, /a write, /c write; network");
  EXPECT_EQ(Outcome(R"({"type":"workspaceWrite","writableRoots":["/a"],"networkAccess":true,
      "excludeTmpdirEnvVar":false,"excludeSlashTmp":true})"),
            ":root read, :project write, :tmpdir write, /a write; network");
}

TEST(LegacyPolicyTest, TwoSpellingsAtOnceAreAnError) {
  EXPECT_EQ(Outcome(R"({"type":"read-only","network_access":false,"networkAccess":true})"),
            "networkAccess: is also given as network_access");
}

TEST(LegacyPolicyTest, RestrictedReadingIsNotWidened) {
  EXPECT_EQ(Outcome(R"({"type":"readOnly","access":{"type":"fullAccess"}})"), ":root read");
  EXPECT_EQ(Outcome(R"({"type":"workspace-write","read_only_access":{"type":"full-access"}})"), kWorkspace);
  EXPECT_EQ(Outcome(R"({"type":"readOnly","access":{"type":"restricted","readableRoots":["/a"]}})"),
            "access.type: only a permission profile can restrict reading");
  EXPECT_EQ(Outcome(R"({"type":"workspaceWrite","readOnlyAccess":{"type":"restricted"}})"),
            "readOnlyAccess.type: only a permission profile can restrict reading");
  EXPECT_EQ(Outcome(R"({"type":"workspace-write","read_only_access":{}})"), "read_only_access.type: is missing");
}

TEST(LegacyPolicyTest, MembersThatItsTypeHasNoUseForAreRefused) {
  EXPECT_EQ(Outcome(R"({"type":"danger-full-access","network_access":false})"), "network_access: is not known");
  EXPECT_EQ(Outcome(R"({"type":"external-sandbox","writable_roots":[]})"), "writable_roots: is not known");
  EXPECT_EQ(Outcome(R"({"type":"read-only","writable_roots":["/a"]})"), "writable_roots: is not known");
  EXPECT_EQ(Outcome(R"({"type":"workspace-write","later":1})"), "later: is not known");
  EXPECT_EQ(Outcome(R"({"type":"read-only","access":{"type":"fullAccess","later":1}})"), "access.later: is not known");
}

TEST(LegacyPolicyTest, MembersOfSomebodyElseMayBeThere) {
  wire::Document document;
  const auto json = document.Parse(R"({"type":"danger-full-access","cwd":"/w"})");
  ASSERT_TRUE(json.has_value());
  const char* const others[] = {"cwd"};
  EXPECT_TRUE(DecodeLegacyPolicy(*json, others).has_value());
  EXPECT_FALSE(DecodeLegacyPolicy(*json).has_value());
}

TEST(LegacyPolicyTest, ErrorsNameTheMember) {
  EXPECT_EQ(Outcome(R"({"type":"nope"})"), "type: is not one of the known values");
  EXPECT_EQ(Outcome(R"({"mode":"read-only"})"), "type: is missing");
  EXPECT_EQ(Outcome(R"("read-only")"), "sandbox policy: expected an object, got a string");
  EXPECT_EQ(Outcome(R"({"type":"read-only","network_access":"enabled"})"),
            "network_access: expected a boolean, got a string");
  EXPECT_EQ(Outcome(R"({"type":"external-sandbox","network_access":true})"),
            "network_access: expected a string, got a boolean");
  EXPECT_EQ(Outcome(R"({"type":"workspace-write","writable_roots":["a"]})"),
            R"(writable_roots: path "a": not absolute)");
  EXPECT_EQ(Outcome(R"({"type":"workspaceWrite","writableRoots":[1]})"),
            "writableRoots.0: expected a string, got a number");
}

TEST(LegacyPolicyTest, WritableRootsAreCounted) {
  std::string roots = R"("/a")";
  for (size_t i = 0; i < kMaxEntries; ++i) roots += R"(,"/a")";
  EXPECT_EQ(Outcome(fmt::format(R"({{"type":"workspace-write","writable_roots":[{}]}})", roots)),
            "writable_roots: has more than 4096 entries");
}

}  // namespace
}  // namespace holdfast::sandbox
