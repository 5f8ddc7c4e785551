#include "sandbox/resolve/protected_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/resolve/nested_repositories.h"
#include "sandbox/resolve/protected_names.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using std::filesystem::create_directories;
using std::filesystem::create_directory_symlink;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

using Paths = std::vector<std::string>;

class ProtectedPathsTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return scratch_.path() + "/" + name; }
  void MakeDirectory(const std::string& name) const { create_directories(Path(name)); }
  void MakeFile(const std::string& name, const std::string& text = "") const { scratch_.Write(name, text); }
  void MakeLink(const std::string& target, const std::string& name) const {
    create_directory_symlink(target, Path(name));
  }
  void MakeRepository(const std::string& git) const {
    MakeDirectory(git + "/hooks");
    MakeFile(git + "/config", "[core]\n");
  }

  void Allow(Access access, const std::string& path) { resolution_.rules.push_back({.path = path, .access = access}); }

  // Returns the paths of the rules that are added. Paths in the scratch directory are relative to it.
  Paths Protected(const std::vector<SearchedRoot>& searched_roots = {}) {
    const size_t given = resolution_.rules.size();
    const auto done = AddProtectedPaths(resolution_, searched_roots, {});
    EXPECT_TRUE(done) << done.error().message;
    Paths paths;
    for (size_t i = given; i < resolution_.rules.size(); ++i) {
      const Rule& rule = resolution_.rules[i];
      EXPECT_EQ(rule.access, Access::kRead);
      EXPECT_EQ(rule.if_missing, IfMissing::kProtect);
      const bool is_ours = rule.path.starts_with(scratch_.path() + "/");
      paths.push_back(is_ours ? rule.path.substr(scratch_.path().size() + 1) : rule.path);
    }
    return paths;
  }

  Paths ProtectedNested() {
    MakeDirectory("ws");
    Allow(Access::kWrite, Path("ws"));
    const auto has_no_rule = [&](const std::string& path) {
      return std::ranges::find(resolution_.rules, path, &Rule::path) == resolution_.rules.end();
    };
    const auto found = FindNestedGit({.root = Path("ws")}, has_no_rule);
    EXPECT_TRUE(found) << found.error().message;
    Paths paths = Protected({{.path = Path("ws"), .repositories = found.value_or(Paths())}});
    std::erase_if(paths, [](const std::string& path) {
      return std::ranges::any_of(kProtectedNames, [&](const std::string& name) { return path == "ws/" + name; });
    });
    return paths;
  }

  support::ScratchDir scratch_;
  Resolution resolution_;
};

TEST_F(ProtectedPathsTest, NamesBelowEveryWritableRootAreProtectedThereOrNot) {
  MakeDirectory("ws/.git");
  MakeDirectory("other");
  Allow(Access::kRead, "/");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("other"));
  Allow(Access::kRead, Path("read"));
  EXPECT_THAT(Protected(), ElementsAre("ws/.git", "ws/.codex", "ws/.agents", "ws/.aws", "other/.git", "other/.codex",
                                       "other/.agents", "other/.aws"));
}

TEST_F(ProtectedPathsTest, RootsThatAreNoDirectoriesHaveNoNames) {
  MakeFile("file");
  Allow(Access::kWrite, Path("file"));
  Allow(Access::kWrite, Path("missing"));
  EXPECT_THAT(Protected(), IsEmpty());
}

TEST_F(ProtectedPathsTest, RootOfTheFileSystemIsNoProject) {
  Allow(Access::kWrite, "/");
  EXPECT_THAT(Protected(), IsEmpty());
}

TEST_F(ProtectedPathsTest, WhatARuleNamesIsLeftAsTheRuleHasIt) {
  MakeDirectory("ws/.git");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("ws/.git"));
  Allow(Access::kRead, Path("ws/.codex"));
  Allow(Access::kDeny, Path("ws/.aws"));
  EXPECT_THAT(Protected(), ElementsAre("ws/.agents"));
}

TEST_F(ProtectedPathsTest, WriteRuleBelowAProtectedNameOpensOnlyItself) {
  MakeDirectory("ws/.git/info");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("ws/.git/info"));
  EXPECT_THAT(Protected(), Contains("ws/.git"));
  EXPECT_EQ(AccessTo(resolution_, Path("ws/.git/hooks")), Access::kRead);
  EXPECT_EQ(AccessTo(resolution_, Path("ws/.git/info/exclude")), Access::kWrite);
}

TEST_F(ProtectedPathsTest, TwoNamesOfARootAreOneRoot) {
  MakeDirectory("ws/.git");
  MakeLink("ws", "alias");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("alias/.git"));
  EXPECT_THAT(Protected(), Not(Contains("ws/.git")));
}

TEST_F(ProtectedPathsTest, GitFileProtectsTheDirectoryItNames) {
  MakeRepository("other/gd");
  MakeFile("ws/.git", "gitdir: " + Path("other/gd") + "\n");
  Allow(Access::kRead, "/");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("other"));
  EXPECT_THAT(Protected(), IsSupersetOf({"ws/.git", "other/gd"}));
}

TEST_F(ProtectedPathsTest, GitFileIsFollowedAsTheKernelDoes) {
  MakeRepository("elsewhere/gd");
  MakeDirectory("elsewhere/sub");
  MakeFile("real/.git", "gitdir: hop/../gd");
  MakeLink("../elsewhere/sub", "real/hop");
  MakeLink("real", "ws");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("elsewhere"));
  EXPECT_THAT(Protected(), IsSupersetOf({"ws/.git", "elsewhere/gd"}));
}

TEST_F(ProtectedPathsTest, WorktreeProtectsWhatItShares) {
  MakeRepository("main/.git");
  MakeFile("main/.git/worktrees/wt/commondir", "../..\n");
  MakeFile("wt/.git", "gitdir: " + Path("main/.git/worktrees/wt") + "\n");
  Allow(Access::kWrite, Path("wt"));
  Allow(Access::kWrite, scratch_.path());
  EXPECT_THAT(Protected(), IsSupersetOf({"wt/.git", "main/.git/worktrees/wt", "main/.git"}));
}

TEST_F(ProtectedPathsTest, WorktreeOfAnOpenedRepositoryIsLeftOpen) {
  MakeRepository("main/.git");
  MakeFile("main/.git/worktrees/wt/commondir", "../..\n");
  MakeFile("wt/.git", "gitdir: " + Path("main/.git/worktrees/wt") + "\n");
  Allow(Access::kWrite, Path("wt"));
  Allow(Access::kWrite, Path("main/.git"));
  EXPECT_THAT(Protected(), ElementsAre("wt/.git", "wt/.codex", "wt/.agents", "wt/.aws"));
}

// The common directory is read from a file, which an earlier command may have written.
TEST_F(ProtectedPathsTest, GitDirectoryThatClaimsToShareAWritableRootIsProtected) {
  MakeRepository("ws/gd");
  MakeFile("ws/gd/commondir", "..\n");
  MakeFile("ws/.git", "gitdir: gd\n");
  Allow(Access::kWrite, Path("ws"));
  EXPECT_THAT(Protected(), Contains("ws/gd"));
}

TEST_F(ProtectedPathsTest, MissingGitDirectoryMustNotComeToExist) {
  MakeFile("ws/.git", "gitdir: later/gd\n");
  Allow(Access::kWrite, Path("ws"));
  EXPECT_THAT(Protected(), Contains("ws/later/gd"));
}

TEST_F(ProtectedPathsTest, NothingBecomesReadableByBeingProtected) {
  MakeRepository("outside/gd");
  MakeFile("ws/.git", "gitdir: " + Path("outside/gd") + "\n");
  Allow(Access::kWrite, Path("ws"));
  EXPECT_THAT(Protected(), ElementsAre("ws/.git", "ws/.codex", "ws/.agents", "ws/.aws"));

  resolution_.rules.clear();
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("outside"));
  Allow(Access::kDeny, Path("outside/gd"));
  EXPECT_THAT(Protected(), Not(Contains("outside/gd")));
}

TEST_F(ProtectedPathsTest, GitDirectoryThatARuleOpensIsLeftOpen) {
  MakeRepository("other/gd");
  MakeFile("ws/.git", "gitdir: " + Path("other/gd") + "\n");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("other/gd"));
  EXPECT_THAT(Protected(), Not(Contains("other/gd")));
}

TEST_F(ProtectedPathsTest, GitDirectoryOfAnOpenedGitFileIsLeftOpen) {
  MakeRepository("ws/gd");
  MakeFile("ws/.git", "gitdir: gd\n");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("ws/.git"));
  EXPECT_THAT(Protected(), Not(Contains("ws/gd"))) << "a repository that may be written to must work";
}

TEST_F(ProtectedPathsTest, LinkIsProtectedAndWhereItLeads) {
  MakeRepository("ws/real");
  MakeLink("real", "ws/.git");
  MakeDirectory("outside");
  MakeLink("../outside", "ws/.codex");
  Allow(Access::kWrite, Path("ws"));
  EXPECT_THAT(Protected(), ElementsAre("ws/real", "ws/.git", "ws/.codex", "ws/.agents", "ws/.aws"));
}

TEST_F(ProtectedPathsTest, LinkIsKeptWithAllThatDecidesWhereItLeads) {
  MakeDirectory("ws/area");
  MakeDirectory("ws/hop/skip");
  MakeLink("hop/skip/../../first", "ws/.codex");
  MakeLink("../ws/area", "ws/first");
  Allow(Access::kWrite, Path("ws"));
  EXPECT_THAT(Protected(), Contains("ws/area"));
  EXPECT_THAT(resolution_.kept.links, ElementsAre(Path("ws/.codex"), Path("ws/first")));
  EXPECT_THAT(resolution_.kept.directories, ElementsAre(Path("ws/hop/skip"), Path("ws/hop")));
}

TEST_F(ProtectedPathsTest, FirstMissingNameBehindALinkMustNotComeToExist) {
  MakeDirectory("ws");
  MakeDirectory("ws/real");
  MakeLink("gone/../real", "ws/.agents");
  Allow(Access::kWrite, Path("ws"));
  EXPECT_THAT(Protected(), Contains("ws/gone"));
}

// Another program may have made the link, so it must not close what commands need for their work.
TEST_F(ProtectedPathsTest, LinkClosesNoDirectoryThatCommandsNeed) {
  MakeDirectory("ws/sub/project");
  MakeDirectory("other/root");
  for (const char* target : {".", "..", "/", "sub", "../other", "../other/root", "/proc/1/root", "/dev/null"}) {
    std::filesystem::remove(Path("ws/.codex"));
    MakeLink(target, "ws/.codex");
    resolution_ = {};
    for (const char* name : {"ws", "ws/sub/project", "other/root"}) Allow(Access::kWrite, Path(name));
    Allow(Access::kWrite, scratch_.path());
    Protected();
    EXPECT_THAT(resolution_.kept.links, Contains(Path("ws/.codex"))) << target;
    for (const char* name : {"ws/new", "ws/sub/new", "other/new", "other/root/new"}) {
      EXPECT_EQ(AccessTo(resolution_, Path(name)), Access::kWrite) << target;
    }
  }
}

TEST_F(ProtectedPathsTest, LinkMakesNothingReadableThatIsDenied) {
  MakeDirectory("ws");
  MakeFile("secrets/key");
  MakeLink("../secrets/key", "ws/.codex");
  Allow(Access::kRead, "/");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kDeny, Path("secrets"));
  Protected();
  EXPECT_EQ(AccessTo(resolution_, Path("secrets/key")), Access::kDeny);
}

TEST_F(ProtectedPathsTest, RuleAboutALinkHoldsForWhatItLeadsTo) {
  MakeDirectory("ws/area");
  MakeDirectory("out/hooks");
  MakeLink("area", "ws/.codex");
  MakeLink("../out", "ws/.git");
  Allow(Access::kRead, "/");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kDeny, Path("ws/.codex"));
  Allow(Access::kDeny, Path("ws/.git/hooks"));
  ASSERT_TRUE(AddProtectedPaths(resolution_, {}, {}));
  EXPECT_EQ(AccessTo(resolution_, Path("ws/area")), Access::kDeny);
  EXPECT_EQ(AccessTo(resolution_, Path("out/hooks")), Access::kDeny);
  EXPECT_EQ(AccessTo(resolution_, Path("out")), Access::kRead);

  resolution_ = {};
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kRead, Path("ws/.codex"));
  ASSERT_TRUE(AddProtectedPaths(resolution_, {}, {}));
  EXPECT_EQ(AccessTo(resolution_, Path("ws/area/file")), Access::kRead);
}

// A hostile checkout brings links whose targets need many mounts. They must leave open neither what a rule of the
// policy denies nor what a name of another root leads to.
TEST_F(ProtectedPathsTest, LinkLeavesNoRoomOfOthersOpen) {
  MakeDirectory("ws/real");
  MakeDirectory("ws/git");
  MakeLink("real", "ws/.codex");
  MakeLink("git", "ws/.git");
  std::string deep, back;
  for (int i = 0; i < 60; ++i) deep += "d/", back += "../";
  MakeDirectory("hostile/" + deep);
  MakeLink(fmt::format("{}{}link0", deep, back), "hostile/.agents");
  for (int i = 0; i < 30; ++i) MakeLink(fmt::format("{}{}link{}", deep, back, i + 1), fmt::format("hostile/link{}", i));
  MakeLink("link0", "hostile/.codex");
  MakeDirectory("hostile/link30");
  Allow(Access::kWrite, Path("hostile"));
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kDeny, Path("hostile/.agents/key"));
  Allow(Access::kDeny, Path("ws/.codex/key"));
  ASSERT_TRUE(AddProtectedPaths(resolution_, {}, {}));
  EXPECT_EQ(AccessTo(resolution_, Path("hostile/link30/key")), Access::kDeny);
  EXPECT_EQ(AccessTo(resolution_, Path("ws/real/key")), Access::kDeny);
  EXPECT_EQ(AccessTo(resolution_, Path("ws/git")), Access::kRead);
  EXPECT_THAT(resolution_.kept.links, IsSupersetOf({Path("hostile/.agents"), Path("hostile/link29"), Path("ws/.git")}));
}

// The link leads to a directory that is left open. Repositories in it are protected as ever.
TEST_F(ProtectedPathsTest, LinkOpensNoRepository) {
  MakeRepository("ws/sub/repository/.git");
  MakeDirectory("ws/sub/project");
  MakeLink("sub", "ws/.codex");
  Allow(Access::kWrite, Path("ws/sub/project"));
  EXPECT_THAT(ProtectedNested(), Contains("ws/sub/repository/.git"));
}

TEST_F(ProtectedPathsTest, LinkToAWritableRootIsProtected) {
  MakeDirectory("ws");
  MakeDirectory("out");
  MakeLink("../out", "ws/.git");
  Allow(Access::kWrite, Path("ws"));
  Allow(Access::kWrite, Path("out"));
  EXPECT_THAT(Protected(), Contains("ws/.git"));
}

TEST_F(ProtectedPathsTest, StrangeGitFilesNameNothing) {
  MakeDirectory("ws");
  Allow(Access::kWrite, Path("ws"));
  for (const std::string& text : {std::string("nothing"), std::string("gitdir:"), std::string("gitdir: \n"),
                                  "gitdir: " + std::string(100'000, 'x'), std::string("gitdir: a\0b", 11)}) {
    resolution_.rules.resize(1);
    MakeFile("ws/.git", text);
    EXPECT_THAT(Protected(), ElementsAre("ws/.git", "ws/.codex", "ws/.agents", "ws/.aws"));
  }
  ASSERT_EQ(::unlink(Path("ws/.git").c_str()), 0);
  ASSERT_EQ(::mkfifo(Path("ws/.git").c_str(), 0600), 0);
  resolution_.rules.resize(1);
  EXPECT_THAT(Protected(), Contains("ws/.git"));
}

// All of the `.git` is protected, because a `commondir` that a command makes beside untouched hooks would name other
// hooks.
TEST_F(ProtectedPathsTest, NestedGitDirectoryIsProtectedAsAWhole) {
  MakeRepository("ws/sub/.git");
  MakeDirectory("ws/a/b/c/.git");
  EXPECT_THAT(ProtectedNested(), ElementsAre("ws/sub/.git", "ws/a/b/c/.git"));
}

// An earlier command may have written the file, and the path of its choice would become a mount point.
TEST_F(ProtectedPathsTest, NestedGitFileIsProtectedAndNamesNothing) {
  MakeRepository("ws/gd");
  MakeFile("ws/sub/.git", "gitdir: ../gd");
  MakeFile("ws/strange/.git", "gitdir: ../gd/HEAD/none");
  EXPECT_THAT(ProtectedNested(), UnorderedElementsAre("ws/sub/.git", "ws/strange/.git"));
}

TEST_F(ProtectedPathsTest, NestedWorktreeIsProtectedByTheRepositoryItBelongsTo) {
  MakeRepository("ws/main/.git");
  MakeFile("ws/main/.git/worktrees/wt/commondir", "../..\n");
  MakeFile("ws/wt/.git", "gitdir: ../main/.git/worktrees/wt");
  EXPECT_THAT(ProtectedNested(), UnorderedElementsAre("ws/wt/.git", "ws/main/.git"));
}

TEST_F(ProtectedPathsTest, LockedDirectoryStaysLocked) {
  MakeRepository("ws/locked/.git");
  ASSERT_EQ(::chmod(Path("ws/locked").c_str(), 0), 0);
  EXPECT_THAT(ProtectedNested(), ElementsAre("ws/locked"));
  ASSERT_EQ(::chmod(Path("ws/locked").c_str(), 0700), 0);
}

TEST_F(ProtectedPathsTest, WhatMayNotBeListedMayHideARepository) {
  if (::geteuid() == 0) GTEST_SKIP() << "root lists every directory";
  MakeRepository("ws/unlisted/below/.git");
  ASSERT_EQ(::chmod(Path("ws/unlisted").c_str(), 0300), 0);
  EXPECT_THAT(ProtectedNested(), ElementsAre("ws/unlisted"));
  ASSERT_EQ(::chmod(Path("ws/unlisted").c_str(), 0700), 0);
}

// Some tools make such links to share one git directory between several checkouts.
TEST_F(ProtectedPathsTest, LinksOfANestedRepositoryIntoAGitDirectoryAreFollowedNotNamed) {
  MakeRepository("ws/store/x.git");
  MakeFile("ws/store/x.git/HEAD");
  for (const char* name : {"ws/store/x.git/objects", "ws/store/x.git/refs", "ws/sub/.git"}) MakeDirectory(name);
  MakeLink("../../store/x.git/hooks", "ws/sub/.git/hooks");
  MakeLink("../../store/x.git/config", "ws/sub/.git/config");
  EXPECT_THAT(ProtectedNested(), UnorderedElementsAre("ws/sub/.git", "ws/store/x.git/hooks", "ws/store/x.git/config"));
}

// An earlier command could have made the link, to make its target read-only for the commands after it.
TEST_F(ProtectedPathsTest, OtherLinksOfANestedRepositoryCloseNothing) {
  MakeDirectory("ws/src/hooks");
  MakeFile("ws/src/config");
  MakeFile("ws/src/HEAD");
  for (const char* target : {"../../src", "../../src/hooks", "../../missing", "../..", "hooks", "/proc/self/cwd"}) {
    std::filesystem::remove_all(Path("ws/sub"));
    MakeDirectory("ws/sub/.git");
    MakeLink(target, "ws/sub/.git/hooks");
    MakeLink("../../src/config", "ws/sub/.git/config");
    resolution_.rules.clear();
    EXPECT_THAT(ProtectedNested(), ElementsAre("ws/sub/.git")) << target;
  }
}

TEST_F(ProtectedPathsTest, NestedGitThatIsALinkClosesNothing) {
  MakeRepository("ws/whole");
  for (const char* target : {"../whole", "../missing", ".git", "..", "/proc/self/cwd", "../whole/config"}) {
    std::filesystem::remove_all(Path("ws/linked"));
    MakeDirectory("ws/linked");
    MakeLink(target, "ws/linked/.git");
    resolution_.rules.clear();
    EXPECT_THAT(ProtectedNested(), IsEmpty()) << target;
  }
}

TEST_F(ProtectedPathsTest, NestedPlacesWithRulesOfTheirOwnAreLeftAlone) {
  for (const char* name : {"ws/denied", "ws/read", "ws/opened"}) MakeRepository(std::string(name) + "/.git");
  Allow(Access::kDeny, Path("ws/denied"));
  Allow(Access::kRead, Path("ws/read"));
  Allow(Access::kWrite, Path("ws/opened/.git"));
  EXPECT_THAT(ProtectedNested(), IsEmpty());
}

class NestedRepositoriesTest : public ProtectedPathsTest {
 protected:
  Paths Found(NestedSearch search) const {
    search.root = scratch_.path();
    const auto found = FindNestedGit(search, [](const std::string& path) { return !path.ends_with("/skipped"); });
    EXPECT_TRUE(found);
    Paths paths;
    for (const std::string& git : *found) paths.push_back(git.substr(scratch_.path().size() + 1));
    return paths;
  }
};

TEST_F(NestedRepositoriesTest, NearestComeFirstAndTheOwnIsNone) {
  for (const char* name : {".git", "a/b/c/d/.git", "a/b/.git", "x/.git", "a/b/c/d/e/.git"}) MakeDirectory(name);
  EXPECT_THAT(Found({}), ElementsAre("x/.git", "a/b/.git", "a/b/c/d/.git"));
}

TEST_F(NestedRepositoriesTest, SomeDirectoriesAreNotEntered) {
  for (const char* name : {"node_modules/a/.git", "skipped/.git", ".git/modules/m/.git", "real/.git"}) {
    MakeDirectory(name);
  }
  MakeLink("real", "linked");
  EXPECT_THAT(Found({}), ElementsAre("real/.git"));
}

TEST_F(NestedRepositoriesTest, LockedDirectoryIsNamedItself) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  for (const char* name : {"locked/.git", "unlisted/.git", "open/.git"}) MakeDirectory(name);
  ASSERT_EQ(::chmod(Path("locked").c_str(), 0), 0);
  ASSERT_EQ(::chmod(Path("unlisted").c_str(), 0311), 0);
  EXPECT_THAT(Found({}), UnorderedElementsAre("locked", "unlisted", "open/.git"));
  for (const char* name : {"locked", "unlisted"}) ASSERT_EQ(::chmod(Path(name).c_str(), 0700), 0);
}

TEST_F(NestedRepositoriesTest, WhatIsNotListedIsProbed) {
  for (const char* name : {"a/.git", "b/.git", "c/.git", "c/deep/.git"}) MakeDirectory(name);
  EXPECT_THAT(Found({.max_listed = 1}), UnorderedElementsAre("a/.git", "b/.git", "c/.git"));
  EXPECT_THAT(Found({.max_listed = 1, .max_probed = 2}).size(), 2);
  EXPECT_THAT(Found({.max_repositories = 2}).size(), 2);
  EXPECT_THAT(Found({.max_depth = 1}), UnorderedElementsAre("a/.git", "b/.git", "c/.git"));
}

// So many roots may share the bounds that nothing is left for one of them.
TEST_F(NestedRepositoriesTest, SearchThatMayListNothingFindsNothing) {
  for (const char* name : {".git", "a/.git"}) MakeDirectory(name);
  EXPECT_THAT(Found({.max_listed = 0}), IsEmpty());
}

TEST_F(NestedRepositoriesTest, HugeDirectoryEndsTheListing) {
  for (int i = 0; i < 50; ++i) MakeFile("file" + std::to_string(i));
  MakeDirectory("a/b/.git");
  EXPECT_THAT(Found({.max_entries = 10}), Not(Contains("a/b/.git")));
}

TEST_F(NestedRepositoriesTest, MissingRootHasNone) {
  const auto found = FindNestedGit({.root = Path("missing")}, [](const std::string&) { return true; });
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, IsEmpty());
}

// Tests of the visitor on a walk of the whole tree.
class RepositoryVisitorTest : public ProtectedPathsTest {
 protected:
  Paths Found() const {
    RepositoryVisitor visitor(scratch_.path(), [](const std::string& path) { return !path.ends_with("/skipped"); });
    const OwnedFd top(::open(scratch_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const std::vector<TreeVisitor*> visitors = {&visitor};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    EXPECT_TRUE(WalkTree(top.get(), visitors, {.deadline = deadline}));
    Paths paths = visitor.Take();
    for (std::string& git : paths) git.erase(0, scratch_.path().size() + 1);
    return paths;
  }
};

TEST_F(RepositoryVisitorTest, FindsThemAtEveryDepthTheNearestFirst) {
  for (const char* name : {".git", "a/b/c/d/e/f/.git", "a/b/.git", "x/.git"}) MakeDirectory(name);
  MakeFile("z/.git", "gitdir: ../x/.git");
  EXPECT_THAT(Found(), ElementsAre("x/.git", "z/.git", "a/b/.git", "a/b/c/d/e/f/.git"));
}

TEST_F(RepositoryVisitorTest, SomeDirectoriesAreNotEntered) {
  for (const char* name : {"node_modules/a/.git", "skipped/.git", ".git/modules/m/.git", "real/.git"}) {
    MakeDirectory(name);
  }
  MakeLink("real", "linked");
  EXPECT_THAT(Found(), ElementsAre("real/.git"));
}

TEST_F(RepositoryVisitorTest, TheNearestCountWhenThereAreTooMany) {
  for (size_t i = 0; i < RepositoryVisitor::kMaxRepositories; ++i) MakeDirectory(fmt::format("deep/er/{}/.git", i));
  MakeDirectory("near/.git");
  const Paths found = Found();
  EXPECT_EQ(found.size(), RepositoryVisitor::kMaxRepositories);
  EXPECT_EQ(found.front(), "near/.git");
}

// Every directory on the way becomes a mount: a command must not keep the commands after it from starting by making a
// few repositories far down.
TEST_F(RepositoryVisitorTest, TheNamesOnTheWayAreBounded) {
  for (const char* top : {"a", "b", "c"}) {
    std::string path = top;
    for (size_t i = 0; i < RepositoryVisitor::kMaxNames / 3; ++i) path += "/d";
    MakeDirectory(path + "/.git");
  }
  MakeDirectory("near/.git");
  const Paths found = Found();
  EXPECT_EQ(found.size(), 3u);
  EXPECT_EQ(found.front(), "near/.git");
}

}  // namespace
}  // namespace holdfast::sandbox
