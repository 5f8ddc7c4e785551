// Tests what a resolution knows about git directories of nested repositories that lie elsewhere than in `.git`.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/policy/policy.h"
#include "sandbox/resolve/protected_paths.h"
#include "sandbox/resolve/resolve.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using Paths = std::vector<std::string>;

// The workspace is ws, the directory beside it is out. Only ws may be written, unless a test adds a rule.
class NestedGitTest : public testing::Test {
 protected:
  NestedGitTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {
    Allow("ws", Access::kWrite);
    for (const char* name : {"ws/.git", "ws/sub", "out"}) MakeDirectory(name);
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  void MakeDirectory(const std::string& name) const { std::filesystem::create_directories(Path(name)); }
  void MakeFile(const std::string& name, const std::string& text = "") const { scratch_.Write(name, text); }
  void MakeLink(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(target, Path(name));
  }
  void MakeGitDirectory(const std::string& name) const {
    for (const char* part : {"/objects", "/refs"}) MakeDirectory(name + part);
    MakeFile(name + "/HEAD", "ref: refs/heads/main\n");
  }

  void Allow(const std::string& name, Access access) {
    entries_.push_back({.where = AbsolutePath{Path(name)}, .access = access});
  }

  Paths WithoutDirectory(const Paths& paths) const {
    Paths names;
    for (const std::string& path : paths) names.push_back(path.substr(directory_.size() + 1));
    return names;
  }

  Resolution Resolved() {
    Policy policy;
    policy.files = Policy::Files{.entries = entries_, .glob_scan_max_depth = {}};
    auto resolution = Resolve(policy, {.policy_cwd = Path("ws"), .project_roots = project_roots_, .tmpdir = {}});
    EXPECT_TRUE(resolution) << resolution.error().message;
    return resolution.value_or(Resolution());
  }

  Paths Elsewhere() { return WithoutDirectory(Resolved().nested_git.elsewhere); }
  Paths Links() { return WithoutDirectory(Resolved().nested_git.links); }

  support::ScratchDir scratch_;
  std::string directory_;
  std::vector<Entry> entries_ = {{.where = Place{.kind = PlaceKind::kRoot}, .access = Access::kRead}};
  std::vector<std::string> project_roots_;
};

TEST_F(NestedGitTest, GitFileLeadsToItsGitDirectory) {
  MakeGitDirectory("ws/store");
  MakeFile("ws/sub/.git", "gitdir: ../store\n");
  EXPECT_THAT(Elsewhere(), ElementsAre("ws/store"));
  EXPECT_THAT(Links(), IsEmpty());
}

TEST_F(NestedGitTest, LinkIsPinnedWhereverItLeads) {
  MakeGitDirectory("ws/store");
  MakeLink("../store", "ws/sub/.git");
  MakeDirectory("ws/other");
  MakeLink("missing", "ws/other/.git");
  EXPECT_THAT(Elsewhere(), ElementsAre("ws/store"));
  EXPECT_THAT(Links(), UnorderedElementsAre("ws/sub/.git", "ws/other/.git"));
}

TEST_F(NestedGitTest, LinkToAGitFileLeadsToBoth) {
  MakeGitDirectory("ws/store");
  MakeFile("ws/pointer", "gitdir: store\n");
  MakeLink("../pointer", "ws/sub/.git");
  EXPECT_THAT(Elsewhere(), ElementsAre("ws/pointer", "ws/store"));
}

TEST_F(NestedGitTest, WorktreeLeadsToItsOwnAndToTheCommonDirectory) {
  MakeGitDirectory("ws/store");
  MakeFile("ws/private/HEAD");
  MakeFile("ws/private/commondir", "../store\n");
  MakeFile("ws/sub/.git", "gitdir: ../private\n");
  EXPECT_THAT(Elsewhere(), ElementsAre("ws/private", "ws/store"));
}

TEST_F(NestedGitTest, CommonDirectoryOfAnOrdinaryRepositoryIsFound) {
  MakeGitDirectory("ws/store");
  MakeFile("ws/sub/.git/HEAD");
  MakeFile("ws/sub/.git/commondir", "../../store\n");
  EXPECT_THAT(Elsewhere(), ElementsAre("ws/store"));
}

TEST_F(NestedGitTest, DirectoryThatIsNoGitDirectoryStaysOpen) {
  MakeDirectory("ws/src/objects");
  MakeFile("ws/src/HEAD");
  MakeFile("ws/src/main.c");
  for (const char* target : {"../src", "../src/main.c", "../missing", "/proc/self/cwd"}) {
    MakeFile("ws/sub/.git", fmt::format("gitdir: {}\n", target));
    EXPECT_THAT(Elsewhere(), IsEmpty()) << target;
    std::filesystem::remove(Path("ws/sub/.git"));
    MakeLink(target, "ws/sub/.git");
    EXPECT_THAT(Elsewhere(), IsEmpty()) << target;
    std::filesystem::remove(Path("ws/sub/.git"));
  }
}

// A command can make every directory that it may write look like a git directory. It must not close the directories
// that later commands work in.
TEST_F(NestedGitTest, DirectoriesOfTheWorkStayOpen) {
  Allow("ws/area/root", Access::kWrite);
  project_roots_ = {Path("ws/projects/one")};
  for (const char* name : {"ws", "ws/area", "ws/area/root", "ws/projects", "ws/projects/one", "ws/sub"}) {
    MakeGitDirectory(name);
    MakeFile("ws/sub/.git", fmt::format("gitdir: {}\n", Path(name)));
    EXPECT_THAT(Elsewhere(), IsEmpty()) << name;
  }
  MakeGitDirectory("ws/projects/one/below");
  MakeFile("ws/sub/.git", fmt::format("gitdir: {}\n", Path("ws/projects/one/below")));
  EXPECT_THAT(Elsewhere(), ElementsAre("ws/projects/one/below"));
}

TEST_F(NestedGitTest, DirectoryThatTheCommandCannotWriteNeedsNothing) {
  MakeGitDirectory("out/store");
  MakeFile("ws/sub/.git", fmt::format("gitdir: {}\n", Path("out/store")));
  EXPECT_THAT(Elsewhere(), IsEmpty());
  Allow("out", Access::kWrite);
  EXPECT_THAT(Elsewhere(), ElementsAre("out/store"));
}

TEST_F(NestedGitTest, DirectoryThatTheRulesOpenStaysOpen) {
  MakeGitDirectory("ws/store");
  MakeFile("ws/sub/.git", "gitdir: ../store\n");
  Allow("ws/store", Access::kWrite);
  EXPECT_THAT(Elsewhere(), IsEmpty());
}

TEST_F(NestedGitTest, RepositoryWhoseGitFileTheRulesOpenStaysOpen) {
  MakeGitDirectory("ws/store");
  MakeFile("ws/sub/.git", "gitdir: ../store\n");
  Allow("ws/sub/.git", Access::kWrite);
  EXPECT_THAT(Elsewhere(), IsEmpty());
}

TEST_F(NestedGitTest, SubmoduleOfAnOpenedRepositoryStaysOpen) {
  MakeGitDirectory("ws/.git/modules/sub");
  MakeFile("ws/sub/.git", "gitdir: ../.git/modules/sub\n");
  Allow("ws/.git", Access::kWrite);
  EXPECT_THAT(Elsewhere(), IsEmpty());
}

TEST_F(NestedGitTest, DirectoriesElsewhereAreBounded) {
  for (size_t i = 0; i < kMaxElsewhere; ++i) {
    MakeGitDirectory(fmt::format("ws/s/{}", i));
    MakeFile(fmt::format("ws/r/{}/HEAD", i));
    MakeFile(fmt::format("ws/r/{}/commondir", i), fmt::format("../../s/{}\n", i));
    MakeFile(fmt::format("ws/n/{}/.git", i), fmt::format("gitdir: ../../r/{}\n", i));
  }
  const Paths found = Resolved().nested_git.elsewhere;
  EXPECT_GE(found.size(), kMaxElsewhere / 2);
  EXPECT_LE(found.size(), kMaxElsewhere);
  size_t names = 0;
  for (const std::string& path : found) names += static_cast<size_t>(std::ranges::count(path, '/'));
  EXPECT_LE(names, kMaxNamesElsewhere);
}

TEST_F(NestedGitTest, DirectoryOfManyRepositoriesIsFoundOnce) {
  MakeGitDirectory("ws/store");
  for (const char* name : {"ws/a/.git", "ws/b/.git"}) MakeFile(name, "gitdir: ../store\n");
  EXPECT_THAT(Elsewhere(), SizeIs(1));
}

}  // namespace
}  // namespace holdfast::sandbox
