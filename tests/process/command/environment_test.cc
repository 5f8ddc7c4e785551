#include "process/command/environment.h"

#include <unistd.h>

#include <utility>

#include <gtest/gtest.h>

namespace holdfast::process {
namespace {

using Inherit = EnvPolicy::Inherit;

const Environment kServer = {
    {"API_KEY", "k"}, {"EDITOR", "vi"}, {"HOME", "/h"}, {"My_Secret", "s"}, {"PATH", "/bin"}, {"gh_token_2", "t"},
};

std::vector<std::string> Names(const Environment& environment) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) names.push_back(name);
  return names;
}

using List = std::vector<std::string>;

TEST(BuildEnvironmentTest, InheritsAllButCredentials) {
  EXPECT_EQ(Names(BuildEnvironment({}, kServer, {})), (List{"EDITOR", "HOME", "PATH"}));
}

TEST(BuildEnvironmentTest, KeepsCredentialsWhenToldTo) {
  EXPECT_EQ(BuildEnvironment({.ignore_default_excludes = true}, kServer, {}), kServer);
}

TEST(BuildEnvironmentTest, InheritsCoreNamesExactly) {
  Environment server = kServer;
  for (const char* name : {"PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"}) {
    server.emplace_back(name, "x");
  }
  for (const char* name : {"path", "PATHS", "LC_TIME", "USERNAME", "PWD"}) server.emplace_back(name, "x");
  EXPECT_EQ(Names(BuildEnvironment({.inherit = Inherit::kCore}, server, {})),
            (List{"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "USER"}));
}

TEST(BuildEnvironmentTest, InheritsNothing) {
  EXPECT_EQ(BuildEnvironment({.inherit = Inherit::kNone}, kServer, {}), Environment{});
}

TEST(BuildEnvironmentTest, DropsExcludedNamesBeforeSettingOthers) {
  const EnvPolicy policy = {.exclude = {"ed*", "H?ME"}, .set = {{"HOME", "/new"}, {"NEW_KEY", "v"}}};
  EXPECT_EQ(BuildEnvironment(policy, kServer, {}), (Environment{{"HOME", "/new"}, {"NEW_KEY", "v"}, {"PATH", "/bin"}}));
}

TEST(BuildEnvironmentTest, IncludeOnlyAlsoDropsSetNames) {
  const EnvPolicy policy = {.set = {{"A", "1"}, {"PATHS", "2"}}, .include_only = {"path*"}};
  EXPECT_EQ(BuildEnvironment(policy, kServer, {}), (Environment{{"PATH", "/bin"}, {"PATHS", "2"}}));
}

TEST(BuildEnvironmentTest, OverlayWinsOverEveryRule) {
  const EnvPolicy policy = {.exclude = {"*"}, .set = {{"A", "set"}}, .include_only = {"A"}};
  const Environment overlay = {{"A", "own"}, {"API_KEY", "own"}};
  EXPECT_EQ(BuildEnvironment(policy, kServer, overlay), overlay);
}

TEST(BuildEnvironmentTest, TakesTheLastOfTwoValues) {
  EXPECT_EQ(BuildEnvironment({}, {}, {{"B", "1"}, {"A", "2"}, {"B", "3"}}), (Environment{{"A", "2"}, {"B", "3"}}));
}

bool Excluded(std::string pattern, std::string name) {
  return BuildEnvironment({.exclude = {std::move(pattern)}}, {{std::move(name), ""}}, {}).empty();
}

TEST(EnvPatternTest, MatchesWholeNamesIgnoringCase) {
  EXPECT_TRUE(Excluded("abc", "ABC"));
  EXPECT_TRUE(Excluded("ABC", "abc"));
  EXPECT_FALSE(Excluded("abc", "abcd"));
  EXPECT_FALSE(Excluded("abc", "xabc"));
  EXPECT_FALSE(Excluded("", "a"));
}

TEST(EnvPatternTest, QuestionMarkIsOneByte) {
  EXPECT_TRUE(Excluded("a?c", "abc"));
  EXPECT_FALSE(Excluded("a?c", "ac"));
  EXPECT_FALSE(Excluded("abc?", "abc"));
}

TEST(EnvPatternTest, StarIsAnyRun) {
  EXPECT_TRUE(Excluded("*", "a"));
  EXPECT_TRUE(Excluded("a*", "a"));
  EXPECT_TRUE(Excluded("**a**", "a"));
  EXPECT_TRUE(Excluded("a*b*c", "aXbXbXc"));
  EXPECT_TRUE(Excluded("*ab", "aab"));
  EXPECT_TRUE(Excluded("*a?c*", "abaxc!"));
  EXPECT_FALSE(Excluded("a*b", "aXbX"));
  EXPECT_FALSE(Excluded("*a*b*", "ba"));
}

TEST(EnvPatternTest, OtherGlobCharactersAreLiteral) {
  EXPECT_TRUE(Excluded("[a]", "[A]"));
  EXPECT_FALSE(Excluded("[a]", "a"));
  EXPECT_FALSE(Excluded("a.c", "abc"));
}

// A matcher that backtracks into every star would never finish.
TEST(EnvPatternTest, StaysFastWithManyStars) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(Excluded(pattern + "b", std::string(4000, 'a')));
}

TEST(CurrentEnvironmentTest, ReadsNamedEntriesAndTheFirstOfTwo) {
  char entries[][8] = {"B=1=2", "A=", "noname", "=x", "B=3"};
  char* fake[] = {entries[0], entries[1], entries[2], entries[3], entries[4], nullptr};
  char** real = std::exchange(environ, fake);
  const Environment environment = CurrentEnvironment();
  environ = real;
  EXPECT_EQ(environment, (Environment{{"A", ""}, {"B", "1=2"}}));
}

}  // namespace
}  // namespace holdfast::process
