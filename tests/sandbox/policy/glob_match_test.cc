#include "sandbox/policy/glob_match.h"

#include <algorithm>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/glob_parse.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<GlobTarget> Parse(std::string_view text) {
  auto targets = ParseGlob("/r", text);
  EXPECT_TRUE(targets) << text << ": " << targets.error().message;
  return targets ? *std::move(targets) : std::vector<GlobTarget>();
}

// Returns whether the pattern, which is relative to /r, matches `path` below /r.
bool Matches(std::string_view pattern, std::string_view path) {
  const std::string full = "/r/" + std::string(path);
  return std::ranges::any_of(Parse(pattern), [&](const GlobTarget& target) {
    if (!target.glob) return target.path == full;
    return full.starts_with(target.path + "/") && target.glob->Matches(full.substr(target.path.size() + 1));
  });
}

std::vector<std::string> Roots(std::string_view text) {
  std::vector<std::string> roots;
  for (const GlobTarget& target : Parse(text)) roots.push_back(target.path + (target.glob ? "/..." : ""));
  return roots;
}

std::string RefusalOf(std::string_view base, std::string_view text) {
  const auto targets = ParseGlob(base, text);
  if (targets) return "accepted";
  EXPECT_EQ(targets.error().kind, ErrorKind::kInvalidRequest);
  return targets.error().message;
}

TEST(GlobTest, StarStaysWithinAName) {
  EXPECT_TRUE(Matches("*.env", "x.env"));
  EXPECT_TRUE(Matches("*.env", ".env"));
  EXPECT_FALSE(Matches("*.env", "a/x.env"));
  EXPECT_FALSE(Matches("*.env", "x.env/a"));
  EXPECT_FALSE(Matches("*.env", "x.envy"));
  EXPECT_TRUE(Matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(Matches("a*b*c", "aXbYbZ"));
}

TEST(GlobTest, TwoStarsCrossAnyNumberOfNames) {
  for (const char* path : {"x.env", "a/x.env", "a/b/c/x.env", ".hidden/x.env"}) EXPECT_TRUE(Matches("**/*.env", path));
  EXPECT_TRUE(Matches("a/**/b", "a/b"));
  EXPECT_TRUE(Matches("a/**/b", "a/x/b/y/b"));
  EXPECT_FALSE(Matches("a/**/b", "a/x"));
  EXPECT_FALSE(Matches("a/**/b", "ab"));
  EXPECT_TRUE(Matches("**/a/**/b/*.c", "x/a/b/a/y/b/z.c"));
}

TEST(GlobTest, TwoStarsAtTheEndMeanWhatIsBelow) {
  EXPECT_TRUE(Matches("*/**", "a/b"));
  EXPECT_TRUE(Matches("*/**", "a/b/c"));
  EXPECT_FALSE(Matches("*/**", "a"));
  EXPECT_TRUE(Matches("**", "a"));
}

TEST(GlobTest, SlashAtTheEndMeansWhatIsBelow) {
  EXPECT_TRUE(Matches("**/secrets/", "a/secrets/x/y"));
  EXPECT_FALSE(Matches("**/secrets/", "a/secrets"));
  EXPECT_TRUE(Matches("s*/.", "secrets/x"));
}

TEST(GlobTest, TwoStarsWithinANameAreOne) {
  EXPECT_TRUE(Matches("a**b", "aXb"));
  EXPECT_FALSE(Matches("a**b", "a/b"));
}

TEST(GlobTest, QuestionMarkIsOneCharacterNotOneByte) {
  EXPECT_TRUE(Matches("?.env", "a.env"));
  EXPECT_TRUE(Matches("?.env", "\xc3\xa9.env"));
  EXPECT_TRUE(Matches("?.env", "\xff.env"));
  EXPECT_FALSE(Matches("?.env", ".env"));
  EXPECT_FALSE(Matches("a?b", "a/b"));
}

TEST(GlobTest, ClassIsOneCharacter) {
  EXPECT_TRUE(Matches("[a-c0].x", "b.x"));
  EXPECT_TRUE(Matches("[a-c0].x", "0.x"));
  EXPECT_FALSE(Matches("[a-c0].x", "d.x"));
  EXPECT_TRUE(Matches("[!a].x", "b.x"));
  EXPECT_TRUE(Matches("[^a].x", "b.x"));
  EXPECT_FALSE(Matches("[!a].x", "a.x"));
  EXPECT_TRUE(Matches("[]a].x", "].x"));
  EXPECT_TRUE(Matches("[!]].x", "a.x"));
  EXPECT_TRUE(Matches("[a-].x", "-.x"));
  EXPECT_TRUE(Matches("[\xc3\xa0-\xc3\xbf].x", "\xc3\xa9.x"));
  EXPECT_FALSE(Matches("a[!x]b", "a/b"));
}

TEST(GlobTest, BracketThatIsNotClosedStandsForItself) {
  EXPECT_TRUE(Matches("*[.env", "x[.env"));
  EXPECT_FALSE(Matches("*[.env", "x.env"));
  EXPECT_TRUE(Matches("*].env", "x].env"));
}

TEST(GlobTest, BackslashTakesTheMeaningAway) {
  EXPECT_TRUE(Matches("\\*?", "*a"));
  EXPECT_FALSE(Matches("\\*?", "ba"));
  EXPECT_THAT(Roots("a\\*/*"), ElementsAre("/r/a*/..."));
  EXPECT_THAT(Roots("\\{a,b\\}"), ElementsAre("/r/{a,b}"));
}

TEST(GlobTest, CaseCounts) { EXPECT_FALSE(Matches("*.ENV", "x.env")); }

TEST(GlobTest, ManyStarsAreNotSlow) {
  std::string pattern, path(2000, 'a');
  for (int i = 0; i < 500; ++i) pattern += "*a";
  EXPECT_FALSE(Matches(pattern + "[xy]", path + "c"));
  std::string deep, steps;
  for (int i = 0; i < 200; ++i) steps += "**/a/", deep += "a/";
  EXPECT_FALSE(Matches(steps + "[xy]", deep + "c"));
}

TEST(GlobParseTest, SearchesTheDirectoryBeforeTheFirstWildcard) {
  EXPECT_THAT(Roots("a/b/*.env"), ElementsAre("/r/a/b/..."));
  EXPECT_THAT(Roots("a/b?/c"), ElementsAre("/r/a/..."));
  EXPECT_THAT(Roots("/a//./b/../c/**"), ElementsAre("/r/a/c/..."));
  EXPECT_THAT(Roots("../x/*"), ElementsAre("/x/..."));
}

TEST(GlobParseTest, PatternWithoutWildcardIsAPath) {
  EXPECT_THAT(Roots("a/secret.txt"), ElementsAre("/r/a/secret.txt"));
  EXPECT_THAT(Roots("a/dir/"), ElementsAre("/r/a/dir"));
}

TEST(GlobParseTest, EveryAlternativeIsSearchedOnItsOwn) {
  EXPECT_THAT(Roots("{a,b/c}/*.env"), UnorderedElementsAre("/r/a/...", "/r/b/c/..."));
  EXPECT_THAT(Roots("x{a,{b,c}d,}"), UnorderedElementsAre("/r/xa", "/r/xbd", "/r/xcd", "/r/x"));
  EXPECT_THAT(Roots("[{]x,[}]"), ElementsAre("/r/..."));
}

TEST(GlobParseTest, BaseStandsForItself) {
  const auto targets = ParseGlob("/w/[ab]*{c,d}", "*.x");
  ASSERT_TRUE(targets);
  ASSERT_EQ(targets->size(), 1u);
  EXPECT_EQ(targets->front().path, "/w/[ab]*{c,d}");
}

TEST(GlobParseTest, RefusesWhatWouldSearchEverything) {
  EXPECT_EQ(RefusalOf("/", "/**/*.env"), "pattern /**/*.env: needs a directory before the first wildcard");
  EXPECT_EQ(RefusalOf("/", "/*"), "pattern /*: needs a directory before the first wildcard");
  EXPECT_THAT(RefusalOf("/r", "../**"), HasSubstr("needs a directory"));
  EXPECT_THAT(RefusalOf("/r", "{a,../*}"), HasSubstr("needs a directory"));
}

TEST(GlobParseTest, RefusesWhatItWouldHaveToGuess) {
  EXPECT_THAT(RefusalOf("/r", ""), HasSubstr("empty"));
  EXPECT_THAT(RefusalOf("/r", "*/../x"), HasSubstr("`..` behind a wildcard"));
  EXPECT_THAT(RefusalOf("/r", "a[/]b"), HasSubstr("a slash in [...]"));
  EXPECT_THAT(RefusalOf("/r", "[z-a]"), HasSubstr("ends before it begins"));
  EXPECT_THAT(RefusalOf("/r", "{a,b"), HasSubstr("an opening brace"));
  EXPECT_THAT(RefusalOf("/r", "a}"), HasSubstr("a closing brace"));
  EXPECT_THAT(RefusalOf("/r", "a*\\"), HasSubstr("a backslash at the end"));
  EXPECT_THAT(RefusalOf("/r", std::string_view("a\0*", 3)), HasSubstr("nul"));
  EXPECT_THAT(RefusalOf("/r", std::string(5000, 'a')), HasSubstr("is longer than 4096 bytes"));
}

TEST(GlobParseTest, RefusesTooManyAlternatives) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "{a,b}";
  EXPECT_THAT(RefusalOf("/r", pattern), HasSubstr("alternatives"));
}

// Returns a regular expression for the same pattern, made without the parser that is tested.
std::string RegexOf(const std::string& pattern) {
  std::string regex;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const bool starts_name = at == 0 || pattern[at - 1] == '/';
    if (starts_name && pattern.substr(at) == "**") return regex + ".+";
    if (starts_name && pattern.compare(at, 3, "**/") == 0) {
      regex += "([^/]+/)*";
      at += 2;
      continue;
    }
    switch (pattern[at]) {
      case '*':
        regex += "[^/]*";
        break;
      case '?':
        regex += "[^/]";
        break;
      case '.':
        regex += "\\.";
        break;
      case '!':
        regex += "^/";
        break;  // the patterns of this test contain `!` only in a class
      default:
        regex += pattern[at];
    }
  }
  return regex;
}

class RandomText {
 public:
  std::string Next(const std::vector<std::string>& names, size_t max_names) {
    std::string text;
    for (size_t left = 1 + random_() % max_names; left > 0; --left) {
      text += names[random_() % names.size()];
      if (left > 1 && random_() % 2 == 0) text += names[random_() % names.size()];
      if (left > 1) text += '/';
    }
    return text;
  }

 private:
  std::mt19937 random_{1};
};

TEST(GlobTest, AgreesWithARegularExpression) {
  RandomText random;
  for (int i = 0; i < 1000; ++i) {
    const std::string pattern = random.Next({"*", "**", "a", "b", "?", "[ab]", "[!a]", "*a", "a*b", "."}, 4);
    const std::string normal = "/" + pattern + "/";
    if (normal.contains("/./") || normal.contains("/../")) continue;
    if (pattern.contains("***")) continue;
    const std::regex oracle(RegexOf(pattern), std::regex::extended);
    for (int j = 0; j < 12; ++j) {
      const std::string path = random.Next({"a", "b", "ab", "ba", ".a"}, 4);
      const bool expected = std::regex_match(path, oracle);
      EXPECT_EQ(Matches(pattern, path), expected) << pattern << " on " << path;
    }
  }
}

}  // namespace
}  // namespace holdfast::sandbox
