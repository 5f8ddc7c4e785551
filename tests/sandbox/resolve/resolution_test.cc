#include "sandbox/resolve/resolution.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/resolve/protected_names.h"
#include "sandbox/resolve/resolve.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using std::filesystem::create_directories;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

Entry At(std::string path, Access access, IfMissing if_missing = IfMissing::kProtect) {
  return {.where = AbsolutePath{std::move(path)}, .access = access, .if_missing = if_missing};
}
Entry At(PlaceKind kind, Access access, std::string subpath = "") {
  return {.where = Place{kind, std::move(subpath)}, .access = access};
}
Entry Denied(std::string pattern) { return {.where = Pattern{std::move(pattern)}, .access = Access::kDeny}; }

class ResolutionTest : public testing::Test {
 protected:
  ResolutionTest() { surroundings_.policy_cwd = scratch_.path(); }

  std::string Path(const std::string& name) const { return scratch_.path() + "/" + name; }

  Result<Resolution> Resolved(std::vector<Entry> entries) const {
    return Resolve({.files = Policy::Files{std::move(entries), depth_}, .network = Network::kRestricted},
                   surroundings_);
  }

  // Returns the rules without those for protected paths.
  std::vector<Rule> RulesOf(std::vector<Entry> entries) const {
    auto resolution = Resolved(std::move(entries));
    EXPECT_TRUE(resolution) << resolution.error().message;
    if (!resolution) return {};
    std::erase_if(resolution->rules, [](const Rule& rule) {
      return rule.access == Access::kRead && std::ranges::any_of(kProtectedNames, [&](const std::string& name) {
               return rule.path.ends_with("/" + name);
             });
    });
    return resolution->rules;
  }

  std::vector<std::string> MatchesOf(std::vector<Entry> entries) const {
    auto resolution = Resolved(std::move(entries));
    EXPECT_TRUE(resolution) << resolution.error().message;
    return resolution ? resolution->denied_by_pattern : std::vector<std::string>();
  }

  std::string RefusalOf(std::vector<Entry> entries) const {
    const auto resolution = Resolved(std::move(entries));
    if (resolution) return "accepted";
    EXPECT_EQ(resolution.error().kind, ErrorKind::kInvalidRequest);
    return resolution.error().message;
  }

  support::ScratchDir scratch_;
  Surroundings surroundings_;
  std::optional<size_t> depth_;
};

TEST_F(ResolutionTest, PlacesBecomePaths) {
  surroundings_.tmpdir = "/var//tmp/";
  EXPECT_THAT(
      RulesOf({At(PlaceKind::kRoot, Access::kRead), At(PlaceKind::kProjectRoots, Access::kWrite),
               At(PlaceKind::kProjectRoots, Access::kDeny, "a/./b/../c/"), At(PlaceKind::kTmpDir, Access::kRead),
               At(PlaceKind::kSlashTmp, Access::kRead)}),
      ElementsAre(Rule{"/", Access::kRead}, Rule{scratch_.path(), Access::kWrite}, Rule{Path("a/c"), Access::kDeny},
                  Rule{"/var/tmp", Access::kRead}, Rule{"/tmp", Access::kRead}));
}

TEST_F(ResolutionTest, EveryProjectRootCountsInsteadOfThePolicysDirectory) {
  surroundings_.policy_cwd = "not even absolute";
  surroundings_.project_roots = {"/p1/", "/p2"};
  EXPECT_THAT(RulesOf({At(PlaceKind::kProjectRoots, Access::kDeny, "x")}),
              ElementsAre(Rule{"/p1/x", Access::kDeny}, Rule{"/p2/x", Access::kDeny}));
}

TEST_F(ResolutionTest, TemporaryDirectoryIsAnAbsolutePathBelowTheRoot) {
  for (const char* value : {"", "relative", "/", "//."}) {
    surroundings_.tmpdir = value;
    EXPECT_THAT(RulesOf({At(PlaceKind::kTmpDir, Access::kRead)}), IsEmpty()) << value;
  }
  surroundings_.tmpdir.reset();
  EXPECT_THAT(RulesOf({At(PlaceKind::kTmpDir, Access::kRead)}), IsEmpty());
}

TEST_F(ResolutionTest, PlaceOfALaterVersionIsNowhere) {
  EXPECT_THAT(RulesOf({At(PlaceKind::kUnknown, Access::kWrite)}), IsEmpty());
}

TEST_F(ResolutionTest, MinimalIsAFlag) {
  const auto resolution = Resolved({At(PlaceKind::kMinimal, Access::kRead)});
  ASSERT_TRUE(resolution);
  EXPECT_TRUE(resolution->minimal);
  EXPECT_THAT(resolution->rules, IsEmpty());
  EXPECT_FALSE(Resolved({At(PlaceKind::kMinimal, Access::kDeny)})->minimal);
}

TEST_F(ResolutionTest, PathsAreNormalisedByName) {
  EXPECT_THAT(RulesOf({At("/a/../b//c/.", Access::kDeny)}), ElementsAre(Rule{"/b/c", Access::kDeny}));
}

TEST_F(ResolutionTest, RefusesPathsThatNameNothing) {
  EXPECT_EQ(RefusalOf({At("a/b", Access::kRead)}), "path a/b: is not absolute");
  EXPECT_THAT(RefusalOf({At("", Access::kRead)}), HasSubstr("not absolute"));
  EXPECT_THAT(RefusalOf({At(std::string("/a\0b", 4), Access::kRead)}), HasSubstr("path"));
  surroundings_.project_roots = {"relative"};
  EXPECT_EQ(RefusalOf({}), "path relative: is not absolute");
}

TEST_F(ResolutionTest, RefusesASubpathThatLeavesTheProject) {
  EXPECT_EQ(RefusalOf({At(PlaceKind::kProjectRoots, Access::kWrite, "../other")}),
            "path ../other: is not below the project");
  EXPECT_THAT(RefusalOf({At(PlaceKind::kProjectRoots, Access::kWrite, "/etc")}), HasSubstr("not below the project"));
}

TEST_F(ResolutionTest, SkippableRuleCountsOnlyWhenItsPathIsThere) {
  scratch_.Write("there", "");
  std::filesystem::create_symlink("nowhere", Path("dangling"));
  EXPECT_THAT(
      RulesOf({At(Path("there"), Access::kDeny, IfMissing::kSkip), At(Path("missing"), Access::kDeny, IfMissing::kSkip),
               At(Path("there/below"), Access::kDeny, IfMissing::kSkip),
               At(Path("dangling"), Access::kDeny, IfMissing::kSkip), At(Path("missing too"), Access::kDeny)}),
      ElementsAre(Rule{Path("there"), Access::kDeny, IfMissing::kSkip}, Rule{Path("missing too"), Access::kDeny}));
}

TEST_F(ResolutionTest, SkippedRuleLeavesItsNameProtected) {
  const auto resolution =
      Resolved({At(scratch_.path(), Access::kWrite), At(Path(".git"), Access::kWrite, IfMissing::kSkip)});
  ASSERT_TRUE(resolution);
  EXPECT_EQ(AccessTo(*resolution, Path(".git/hooks")), Access::kRead);
}

TEST_F(ResolutionTest, WorkspaceKeepsItsMetadataAndNestedRepositories) {
  scratch_.Write("sub/.git/hooks/x", "");
  const auto resolution = Resolved({At(PlaceKind::kRoot, Access::kRead), At(PlaceKind::kProjectRoots, Access::kWrite)});
  ASSERT_TRUE(resolution);
  for (const char* name : {".git/config", ".codex", ".agents/x", ".aws", "sub/.git/hooks/x", "sub/.git/commondir"}) {
    EXPECT_EQ(AccessTo(*resolution, Path(name)), Access::kRead) << name;
  }
  for (const char* name : {"a", ".gitignore", "sub/a", "sub/.codex"}) {
    EXPECT_EQ(AccessTo(*resolution, Path(name)), Access::kWrite) << name;
  }
}

// The scan for a pattern that may match everywhere also finds every repository, while the search for repositories alone
// is bounded.
TEST_F(ResolutionTest, ScanOfTheWholeProjectFindsDeepRepositories) {
  scratch_.Write("1/2/3/4/5/6/.git/config", "");
  scratch_.Write("opened/1/.git/config", "");
  const std::vector<Entry> entries = {At(PlaceKind::kProjectRoots, Access::kWrite),
                                      At(Path("opened/1/.git"), Access::kWrite)};
  const auto with = [&](const std::string& pattern, std::optional<size_t> max_depth = {}) {
    std::vector<Entry> all = entries;
    all.push_back(Denied(pattern));
    Policy::Files files{.entries = all, .glob_scan_max_depth = max_depth};
    const auto resolution = Resolve({.files = files}, surroundings_);
    EXPECT_TRUE(resolution) << resolution.error().message;
    EXPECT_EQ(AccessTo(*resolution, Path("opened/1/.git/config")), Access::kWrite);
    return AccessTo(*resolution, Path("1/2/3/4/5/6/.git/config"));
  };
  EXPECT_EQ(with("**/*.env"), Access::kRead);
  EXPECT_EQ(with("*.env"), Access::kWrite) << "nothing below the project is looked at";
  EXPECT_EQ(with("**/*.env", 3), Access::kWrite);
}

TEST_F(ResolutionTest, NarrowerRulesReopenAndDeny) {
  const auto resolution =
      Resolved({At("/repo", Access::kWrite), At("/repo/a", Access::kDeny), At("/repo/a/b", Access::kWrite)});
  ASSERT_TRUE(resolution);
  EXPECT_EQ(AccessTo(*resolution, "/repo/x"), Access::kWrite);
  EXPECT_EQ(AccessTo(*resolution, "/repo/a"), Access::kDeny);
  EXPECT_EQ(AccessTo(*resolution, "/repo/a/c"), Access::kDeny);
  EXPECT_EQ(AccessTo(*resolution, "/repo/a/b/c"), Access::kWrite);
  EXPECT_EQ(AccessTo(*resolution, "/repository"), Access::kDeny);
}

TEST_F(ResolutionTest, PolicyWithoutFilesIsUnrestricted) {
  const auto resolution = Resolve({.files = std::nullopt, .network = Network::kEnabled}, surroundings_);
  ASSERT_TRUE(resolution);
  EXPECT_TRUE(resolution->unrestricted);
  EXPECT_EQ(resolution->network, Network::kEnabled);
  EXPECT_EQ(AccessTo(*resolution, "/etc/shadow"), Access::kWrite);
}

TEST_F(ResolutionTest, WriteEverywhereIsUnrestrictedUntilSomethingIsNarrower) {
  const Entry everything = At(PlaceKind::kRoot, Access::kWrite);
  EXPECT_TRUE(Resolved({everything})->unrestricted);
  EXPECT_TRUE(Resolved({everything, At("/a", Access::kWrite), At("/a", Access::kRead)})->unrestricted);
  EXPECT_FALSE(Resolved({everything, At("/a", Access::kRead)})->unrestricted);
  EXPECT_FALSE(Resolved({everything, Denied("**/*.env")})->unrestricted);
  EXPECT_FALSE(Resolved({At(PlaceKind::kRoot, Access::kRead)})->unrestricted);
}

TEST_F(ResolutionTest, PatternsAreBelowEveryProjectRoot) {
  for (const char* name : {"p1/a.env", "p1/deep/b.env", "p2/c.env", "outside.env"}) scratch_.Write(name, "");
  surroundings_.project_roots = {Path("p1"), Path("p2")};
  const auto all = UnorderedElementsAre(Path("p1/a.env"), Path("p1/deep/b.env"), Path("p2/c.env"));
  EXPECT_THAT(MatchesOf({Denied("**/*.env")}), all);
  EXPECT_THAT(MatchesOf({Denied(Path("p1/**/*.env"))}), UnorderedElementsAre(Path("p1/a.env"), Path("p1/deep/b.env")));
}

TEST_F(ResolutionTest, CharactersOfAProjectRootAreNoPattern) {
  scratch_.Write("[ab]*/x.env", "");
  scratch_.Write("a/y.env", "");
  surroundings_.project_roots = {Path("[ab]*")};
  EXPECT_THAT(MatchesOf({Denied("*.env")}), ElementsAre(Path("[ab]*/x.env")));
  EXPECT_THAT(MatchesOf({Denied(Path("[ab]*/*.env"))}), ElementsAre(Path("[ab]*/x.env")));
}

TEST_F(ResolutionTest, PatternWithoutWildcardIsARuleThatHoldsForWhatIsMissing) {
  EXPECT_THAT(RulesOf({Denied("{a,b}/secret")}),
              UnorderedElementsAre(Rule{Path("a/secret"), Access::kDeny}, Rule{Path("b/secret"), Access::kDeny}));
}

TEST_F(ResolutionTest, PatternDeniesWhateverRulesSay) {
  scratch_.Write("keys/a.env", "");
  const auto resolution = Resolved({At(Path("keys/a.env"), Access::kWrite), Denied("**/*.env")});
  ASSERT_TRUE(resolution);
  EXPECT_EQ(AccessTo(*resolution, Path("keys/a.env")), Access::kDeny);
}

TEST_F(ResolutionTest, DepthOfThePolicyBoundsTheScan) {
  scratch_.Write("a.env", "");
  scratch_.Write("deep/b.env", "");
  depth_ = 1;
  EXPECT_THAT(MatchesOf({Denied("**/*.env")}), ElementsAre(Path("a.env")));
  depth_ = 0;
  EXPECT_EQ(RefusalOf({Denied("**/*.env")}), "glob_scan_max_depth: must be at least 1");
}

TEST_F(ResolutionTest, RefusesPatternsItCannotExpand) {
  EXPECT_EQ(RefusalOf({Denied("/**/*.env")}), "pattern /**/*.env: needs a directory before the first wildcard");
  EXPECT_THAT(RefusalOf({Denied("../../../../../**")}), HasSubstr("needs a directory before the first wildcard"));
  EXPECT_EQ(RefusalOf({{.where = Pattern{"**/*.c"}, .access = Access::kWrite}}), "pattern **/*.c: can only be denied");
  EXPECT_THAT(RefusalOf({Denied("")}), HasSubstr("empty"));
}

std::vector<std::string> Components(const std::string& path) {
  std::vector<std::string> components;
  for (const auto& part : std::filesystem::path(path).relative_path()) components.push_back(part);
  return components;
}

// Decides as AccessTo does, but compares lists of components instead of texts.
Access SlowAccessTo(const Resolution& resolution, const std::string& path) {
  std::vector<std::string> remaining = Components(path);
  for (;;) {
    std::vector<Access> here;
    for (const Rule& rule : resolution.rules) {
      if (Components(rule.path) == remaining) here.push_back(rule.access);
    }
    for (const Access access : {Access::kDeny, Access::kWrite, Access::kRead}) {
      if (std::ranges::find(here, access) != here.end()) return access;
    }
    if (remaining.empty()) return Access::kDeny;
    remaining.pop_back();
  }
}

class RandomRules {
 public:
  std::string Path() {
    constexpr std::string_view names[] = {"a", "b", "ab", ".git", "a.b"};
    std::string path;
    for (size_t count = random_() % 5; count > 0; --count) path.append("/").append(names[random_() % std::size(names)]);
    return path.empty() ? "/" : path;
  }
  Access AnyAccess() { return static_cast<Access>(random_() % 3); }
  Resolution Rules() {
    Resolution resolution;
    for (size_t count = random_() % 7; count > 0; --count) resolution.rules.push_back({Path(), AnyAccess()});
    return resolution;
  }

 private:
  std::mt19937 random_{7};
};

TEST(AccessToTest, AgreesWithASlowOracle) {
  RandomRules random;
  for (int i = 0; i < 3000; ++i) {
    const Resolution resolution = random.Rules();
    for (int j = 0; j < 10; ++j) {
      const std::string path = random.Path();
      EXPECT_EQ(AccessTo(resolution, path), SlowAccessTo(resolution, path)) << path;
    }
  }
}

TEST(AccessToTest, WhatAPatternMatchedIsDeniedWithAllBelow) {
  Resolution resolution;
  resolution.rules = {{"/", Access::kWrite}, {"/a/b/c", Access::kWrite}};
  resolution.denied_by_pattern = {"/z", "/a/b"};
  EXPECT_EQ(AccessTo(resolution, "/a/b"), Access::kDeny);
  EXPECT_EQ(AccessTo(resolution, "/a/b/c/d"), Access::kDeny);
  EXPECT_EQ(AccessTo(resolution, "/a/bc"), Access::kWrite);
}

// The rules that the resolver adds take away only write access, and only where a rule or the file system gives a
// reason.
TEST_F(ResolutionTest, ProtectionOnlyTakesWritingAway) {
  RandomRules random;
  for (int i = 0; i < 300; ++i) {
    Resolution given = random.Rules();
    std::vector<Entry> entries;
    for (Rule& rule : given.rules) {
      rule.path = rule.path == "/" ? scratch_.path() : scratch_.path() + rule.path;
      if (i % 2 == 0) create_directories(rule.path);
      entries.push_back(At(rule.path, rule.access));
    }
    const auto resolution = Resolved(entries);
    ASSERT_TRUE(resolution);
    for (int j = 0; j < 20; ++j) {
      const std::string path = scratch_.path() + random.Path();
      const Access before = SlowAccessTo(given, path), after = AccessTo(*resolution, path);
      if (before == after) continue;
      EXPECT_EQ(before, Access::kWrite) << path;
      EXPECT_EQ(after, Access::kRead) << path;
      EXPECT_THAT(path, HasSubstr("/.git"));
    }
  }
}

}  // namespace
}  // namespace holdfast::sandbox
