#include "sandbox/policy/location.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/policy_text.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;

// Returns the parsed location as text, or the error message.
std::string Outcome(const auto& parsed) { return parsed ? Text(*parsed) : parsed.error().message; }

TEST(ParseAbsolutePathTest, NormalisesByName) {
  EXPECT_EQ(Outcome(ParseAbsolutePath("/a//b/./c/../d/")), "/a/b/d");
  EXPECT_EQ(Outcome(ParseAbsolutePath("/../..")), "/");
  EXPECT_EQ(Outcome(ParseAbsolutePath("file:///a%20b/../c%25")), "/c%");
}

TEST(ParseAbsolutePathTest, RefusesWhatIsNotAbsolute) {
  for (const std::string_view text : {"", "a", "./a", "~/a", "../a", "http://x/a", "file://elsewhere/a", "file:a"}) {
    EXPECT_FALSE(ParseAbsolutePath(text).has_value()) << text;
  }
  EXPECT_THAT(Outcome(ParseAbsolutePath("a/b")), HasSubstr("not absolute"));
}

TEST(ParseAbsolutePathTest, RefusesANulByteHoweverItIsWritten) {
  EXPECT_THAT(Outcome(ParseAbsolutePath("file:///a%00b")), HasSubstr("nul byte"));
  EXPECT_THAT(Outcome(ParseAbsolutePath(std::string_view("/a\0b", 4))), HasSubstr("nul byte"));
}

TEST(ParseAbsolutePathTest, TakesWhatTheKernelTakesAndNoMore) {
  EXPECT_TRUE(ParseAbsolutePath("/" + std::string(kMaxPathBytes - 1, 'a')).has_value());
  EXPECT_EQ(Outcome(ParseAbsolutePath("/" + std::string(kMaxPathBytes, 'a'))), "is longer than 4095 bytes");
}

TEST(ParsePatternTest, KeepsAbsoluteAndRelativeApart) {
  EXPECT_EQ(Outcome(ParsePattern("/ws/**/*.env")), "pattern /ws/**/*.env");
  EXPECT_EQ(Outcome(ParsePattern("**/*.env")), "pattern **/*.env");
  EXPECT_EQ(Outcome(ParsePattern("codex-project-roots://**/*.env")), "pattern **/*.env");
}

TEST(ParsePatternTest, KeepsTheTextBecauseASlashMayMatter) {
  EXPECT_EQ(Outcome(ParsePattern("/ws/./a//secrets/")), "pattern /ws/./a//secrets/");
  EXPECT_EQ(Outcome(ParsePattern("/ws/../a/*.key")), "pattern /ws/../a/*.key");
  EXPECT_EQ(Outcome(ParsePattern("codex-project-roots://private/./*.env")), "pattern private/./*.env");
}

TEST(ParsePatternTest, StaysBelowTheProject) {
  EXPECT_EQ(Outcome(ParsePattern("../*.env")), "contains \"..\"");
  EXPECT_EQ(Outcome(ParsePattern("a/../*.env")), "contains \"..\"");
  EXPECT_EQ(Outcome(ParsePattern("codex-project-roots://../*.env")), "contains \"..\"");
  EXPECT_EQ(Outcome(ParsePattern("codex-project-roots:///etc/*")), "is not a relative path");
  EXPECT_EQ(Outcome(ParsePattern("..a/b..")), "pattern ..a/b..");
}

TEST(ParsePatternTest, RefusesWhatWouldMatchNothing) {
  EXPECT_EQ(Outcome(ParsePattern("file:///ws/*.env")), "is a URI, but a pattern must be a path");
  EXPECT_EQ(Outcome(ParsePattern("codex-project-roots://file:///ws/*.env")), "is a URI, but a pattern must be a path");
  EXPECT_EQ(Outcome(ParsePattern("codex-project-roots://")), "is empty");
  EXPECT_EQ(Outcome(ParsePattern("")), "is empty");
  EXPECT_EQ(Outcome(ParsePattern(std::string_view("/a\0*", 4))), "contains a nul byte");
}

TEST(ParsePatternTest, HasTheLengthOfAPath) {
  EXPECT_TRUE(ParsePattern("/" + std::string(kMaxPathBytes - 1, '*')).has_value());
  EXPECT_EQ(Outcome(ParsePattern("/" + std::string(kMaxPathBytes, '*'))), "is longer than 4095 bytes");
  EXPECT_EQ(Outcome(ParsePattern(std::string(kMaxPathBytes + 1, '*'))), "is longer than 4095 bytes");
}

TEST(ParseProjectPlaceTest, NormalisesByName) {
  EXPECT_EQ(Outcome(ParseProjectPlace(".git")), ":project/.git");
  EXPECT_EQ(Outcome(ParseProjectPlace("./a//b/")), ":project/a/b");
  EXPECT_EQ(Outcome(ParseProjectPlace(".")), ":project");
  EXPECT_EQ(Outcome(ParseProjectPlace("..a")), ":project/..a");
}

TEST(ParseProjectPlaceTest, StaysBelowTheRoot) {
  EXPECT_EQ(Outcome(ParseProjectPlace("..")), "contains \"..\"");
  EXPECT_EQ(Outcome(ParseProjectPlace("a/../b")), "contains \"..\"");
  EXPECT_EQ(Outcome(ParseProjectPlace("a/..")), "contains \"..\"");
  EXPECT_EQ(Outcome(ParseProjectPlace("/a")), "is not a relative path");
  EXPECT_EQ(Outcome(ParseProjectPlace("")), "is empty");
  EXPECT_EQ(Outcome(ParseProjectPlace(std::string_view("a\0", 2))), "contains a nul byte");
  EXPECT_EQ(Outcome(ParseProjectPlace(std::string(kMaxPathBytes + 1, 'a'))), "is longer than 4095 bytes");
}

}  // namespace
}  // namespace holdfast::sandbox
