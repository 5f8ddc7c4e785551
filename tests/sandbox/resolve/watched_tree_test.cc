// Tests of searches for nested repositories in trees that are watched. A command must not hide a repository from the
// search of a later one, whatever it does in the directories that the kernel watches.
#include "sandbox/resolve/watched_tree.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/resolve/nested_repositories.h"
#include "sandbox/resolve/walk_memory.h"
#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Paths = std::vector<std::string>;

// A clock by which every change time has been settled for long.
timespec NextHour() { return {.tv_sec = WallClockTime().tv_sec + 3600, .tv_nsec = 0}; }

class WatchedTreeTest : public testing::Test {
 protected:
  WatchedTreeTest() {
    for (const char* name : {"a/b", "a/d", "e/f", "g"}) Make(name);
  }

  std::string In(const std::string& name) const { return tree_.path() + "/" + name; }
  void Make(const std::string& directory) const { fs::create_directories(In(directory)); }

  Paths Found() {
    const NestedSearch search{.root = tree_.path(), .max_listed = max_listed_};
    const auto found = FindNestedGit(search, [](const std::string&) { return true; }, &memory_);
    EXPECT_TRUE(found);
    Paths paths;
    for (const std::string& path : found.value_or(Paths())) paths.push_back(path.substr(tree_.path().size() + 1));
    return paths;
  }

  bool IsWatched() {
    const OwnedFd top(::open(tree_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return memory_.Recall({.root = tree_.path(), .globs = {}, .max_depth = {}}).watched->Look(top.get()) != nullptr;
  }

  // Searches until the tree is watched.
  void Watch() {
    for (int i = 0; i < 4; ++i) EXPECT_THAT(Found(), IsEmpty());
    ASSERT_TRUE(IsWatched());
  }

  support::ScratchDir tree_;
  size_t max_listed_ = 4;  // the top and the directories in it are listed, and the others only probed
  WalkMemory memory_{{.searches_before_watch = 2}, NextHour};
};

TEST_F(WatchedTreeTest, IsWatchedAfterSearchesThatHaveFoundNothingNew) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Found(), IsEmpty());
    EXPECT_FALSE(IsWatched());
  }
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_TRUE(IsWatched());
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_TRUE(IsWatched());
}

TEST_F(WatchedTreeTest, EveryDirectoryIsWatchedForARepository) {
  for (const char* name : {"a", "a/b", "a/d", "e", "e/f", "g"}) {
    Watch();
    Make(std::string(name) + "/.git");
    EXPECT_FALSE(IsWatched()) << name;
    EXPECT_THAT(Found(), ElementsAre(std::string(name) + "/.git"));
    fs::remove(In(name) + "/.git");
  }
}

TEST_F(WatchedTreeTest, ARepositoryThatIsMovedIntoADirectoryIsFound) {
  const support::ScratchDir outside;
  fs::create_directories(outside.path() + "/repository/.git");
  Watch();
  fs::rename(outside.path() + "/repository", In("a/repository"));
  EXPECT_THAT(Found(), ElementsAre("a/repository/.git"));
}

// A directory that is open somewhere is not gone when it is removed, so it says nothing about its end itself.
TEST_F(WatchedTreeTest, ADirectoryThatTakesThePlaceOfAnotherIsSeen) {
  for (const char* name : {"g", "e/f"}) {
    Watch();
    const OwnedFd held(::open(In(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    fs::remove(In(name));
    Make(std::string(name) + "/.git");
    EXPECT_THAT(Found(), ElementsAre(std::string(name) + "/.git"));
    fs::remove(In(name) + "/.git");
  }
}

TEST_F(WatchedTreeTest, AnExchangeOfTwoDirectoriesIsSeen) {
  Make("node_modules/x/.git");  // where nobody looks
  Watch();
  ASSERT_EQ(::renameat2(AT_FDCWD, In("node_modules/x").c_str(), AT_FDCWD, In("e").c_str(), RENAME_EXCHANGE), 0);
  EXPECT_THAT(Found(), ElementsAre("e/.git"));
}

TEST_F(WatchedTreeTest, AnotherTopIsSeen) {
  Watch();
  fs::rename(tree_.path(), tree_.path() + ".moved");
  Make("a/.git");
  EXPECT_THAT(Found(), ElementsAre("a/.git"));
  fs::remove_all(tree_.path() + ".moved");
}

TEST_F(WatchedTreeTest, ADirectoryThatIsClosedIsNamedItself) {
  if (::geteuid() == 0) GTEST_SKIP() << "root looks into every directory";
  Watch();
  for (const char* name : {"a", "e/f"}) {
    ASSERT_EQ(::chmod(In(name).c_str(), 0), 0);
    EXPECT_THAT(Found(), Contains(name));
    ASSERT_EQ(::chmod(In(name).c_str(), 0700), 0);
  }
}

TEST_F(WatchedTreeTest, AMountIsSeen) {
  if (const std::string reason = support::EnterPrivateMounts(); !reason.empty()) GTEST_SKIP() << reason;
  const support::ScratchDir outside;
  fs::create_directories(outside.path() + "/.git");
  for (const char* name : {"g", "a/b"}) {
    Watch();
    ASSERT_EQ(::mount(outside.path().c_str(), In(name).c_str(), nullptr, MS_BIND, nullptr), 0);
    EXPECT_THAT(Found(), ElementsAre(std::string(name) + "/.git"));
    ASSERT_EQ(::umount2(In(name).c_str(), MNT_DETACH), 0);
  }
}

// A sandbox makes and removes them in the top, for every command.
TEST_F(WatchedTreeTest, PlaceholdersAndFilesInTheTopChangeNothing) {
  max_listed_ = 64;
  Watch();
  for (const char* name : {".git", ".codex", ".agents", ".aws"}) Make(name);
  tree_.Write("file", "");
  EXPECT_TRUE(IsWatched());
  (void)Found();
  EXPECT_TRUE(IsWatched());
  EXPECT_THAT(Found(), IsEmpty());
  for (const char* name : {".git", ".codex", ".agents", ".aws", "file"}) fs::remove(In(name));
  (void)Found();
  EXPECT_TRUE(IsWatched());
}

TEST_F(WatchedTreeTest, WhatIsBelowAProtectedNameIsLookedAtEachTime) {
  Make(".codex/x/y");
  Watch();
  fs::rename(In(".codex"), In("old"));
  Make(".codex/x/.git");
  EXPECT_THAT(Found(), Contains(".codex/x/.git"));
}

TEST_F(WatchedTreeTest, TheNumberOfWatchedTreesIsBounded) {
  Watch();
  for (size_t i = 0; i < WalkMemoryLimits().max_watched_trees; ++i) {
    EXPECT_TRUE(memory_.Recall({.root = In(fmt::format("tree {}", i)), .globs = {}, .max_depth = {}}).watched);
  }
  EXPECT_FALSE(IsWatched());
}

}  // namespace
}  // namespace holdfast::sandbox
