// Tests of searches for nested repositories with a memory of earlier searches.
#include "sandbox/resolve/listing_recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/resolve/nested_repositories.h"
#include "sandbox/resolve/resolve.h"
#include "sandbox/resolve/walk_memory.h"
#include "support/scratch_dir.h"

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

class ListingRecorderTest : public testing::Test {
 protected:
  void Make(const std::string& directory) const { fs::create_directories(tree_.path() + "/" + directory); }

  Paths Found(NestedSearch search = {}) {
    search.root = tree_.path();
    const auto found = FindNestedGit(search, [](const std::string&) { return true; }, &memory_);
    EXPECT_TRUE(found);
    Paths paths;
    for (const std::string& path : found.value_or(Paths())) paths.push_back(path.substr(tree_.path().size() + 1));
    return paths;
  }

  // The map is another one after each search that has read something.
  std::shared_ptr<const RememberedListings> Listings() {
    return memory_.Recall({.root = tree_.path(), .globs = {}, .max_depth = {}}).listings;
  }

  // Returns the directories whose listing is not the one that it was.
  Paths ReadSince(const std::shared_ptr<const RememberedListings>& before) {
    Paths read;
    for (const auto& [path, listing] : *Listings()) {
      const auto known = before->find(path);
      if (known == before->end() || known->second != listing) read.push_back(path);
    }
    return read;
  }

  support::ScratchDir tree_;
  WalkMemory memory_{{}, NextHour};
};

TEST_F(ListingRecorderTest, ReadsNothingWhileNothingChanges) {
  for (const char* name : {"a/b/.git", "a/c", "d"}) Make(name);
  EXPECT_THAT(Found(), ElementsAre("a/b/.git"));
  const auto before = Listings();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->size(), 5u) << "with the top itself";
  EXPECT_THAT(Found(), ElementsAre("a/b/.git"));
  EXPECT_EQ(Listings(), before);
}

TEST_F(ListingRecorderTest, ReadsWhatHasChangedAndNothingElse) {
  for (const char* name : {"a/b", "a/c", "d"}) Make(name);
  EXPECT_THAT(Found(), IsEmpty());
  const auto before = Listings();
  Make("a/c/.git");
  EXPECT_THAT(Found(), ElementsAre("a/c/.git"));
  EXPECT_THAT(ReadSince(before), ElementsAre("a/c"));
}

// A command that makes a repository, and sets back the time that it can set, must not keep it from the next command.
TEST_F(ListingRecorderTest, APolicyProtectsARepositoryThatWasMadeSinceTheLastOne) {
  Make("ws/a");
  const Policy policy{.files = Policy::Files{{{.where = Place{PlaceKind::kRoot, ""}, .access = Access::kRead},
                                              {.where = Place{PlaceKind::kProjectRoots, ""}, .access = Access::kWrite}},
                                             {}}};
  const Surroundings surroundings{
      .policy_cwd = tree_.path() + "/ws", .project_roots = {}, .tmpdir = {}, .memory = &memory_};
  const std::string git = tree_.path() + "/ws/a/.git";
  const auto before = Resolve(policy, surroundings);
  ASSERT_TRUE(before);
  EXPECT_EQ(AccessTo(*before, git), Access::kWrite);
  EXPECT_GT(memory_.bytes(), 0u) << "the search is remembered";
  struct stat status{};
  ASSERT_EQ(::stat((tree_.path() + "/ws/a").c_str(), &status), 0);
  for (const char* name : {"refs", "objects"}) Make(fmt::format("ws/a/.git/{}", name));
  tree_.Write("ws/a/.git/HEAD", "ref: refs/heads/main\n");
  const timespec times[] = {status.st_atim, status.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (tree_.path() + "/ws/a").c_str(), times, 0), 0);
  const auto after = Resolve(policy, surroundings);
  ASSERT_TRUE(after);
  EXPECT_EQ(AccessTo(*after, git), Access::kRead);
}

TEST_F(ListingRecorderTest, DirectoryThatTakesThePlaceOfAnotherIsRead) {
  for (const char* name : {"a/b", "c/b/.git"}) Make(name);
  EXPECT_THAT(Found(), ElementsAre("c/b/.git"));
  ASSERT_EQ(
      ::renameat2(AT_FDCWD, (tree_.path() + "/a").c_str(), AT_FDCWD, (tree_.path() + "/c").c_str(), RENAME_EXCHANGE),
      0);
  EXPECT_THAT(Found(), ElementsAre("a/b/.git"));
}

TEST_F(ListingRecorderTest, LinkThatTakesThePlaceOfADirectoryIsNotFollowed) {
  for (const char* name : {"a/b/.git", "c"}) Make(name);
  EXPECT_THAT(Found(), ElementsAre("a/b/.git"));
  const support::ScratchDir elsewhere;
  fs::rename(tree_.path() + "/a", elsewhere.path() + "/a");
  fs::create_directory_symlink(elsewhere.path() + "/a", tree_.path() + "/a");
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(ListingRecorderTest, DirectoryThatIsLockedLaterIsNamedItself) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  for (const char* name : {"locked/a/.git", "unlisted/.git"}) Make(name);
  EXPECT_THAT(Found(), UnorderedElementsAre("locked/a/.git", "unlisted/.git"));
  ASSERT_EQ(::chmod((tree_.path() + "/locked").c_str(), 0), 0);
  ASSERT_EQ(::chmod((tree_.path() + "/unlisted").c_str(), 0311), 0);
  EXPECT_THAT(Found(), UnorderedElementsAre("locked", "unlisted"));
  for (const char* name : {"/locked", "/unlisted"}) ASSERT_EQ(::chmod((tree_.path() + name).c_str(), 0700), 0);
}

TEST_F(ListingRecorderTest, RecentChangeTimesAreNotTrusted) {
  WalkMemory memory;
  Make("a");
  const NestedSearch search{.root = tree_.path()};
  ASSERT_TRUE(FindNestedGit(search, [](const std::string&) { return true; }, &memory));
  EXPECT_EQ(memory.bytes(), 0u);
}

// A listing that was cut short has only a part of the names, and a search may have fewer entries left than were read.
TEST_F(ListingRecorderTest, ListingServesOnlySearchesThatWouldReadTheSame) {
  for (int i = 0; i < 20; ++i) tree_.Write(fmt::format("file{}", i), "");
  Make("a/.git");
  (void)Found({.max_entries = 1});
  EXPECT_THAT(Found(), ElementsAre("a/.git"));
  const auto whole = Listings();
  (void)Found({.max_entries = 2});
  EXPECT_THAT(ReadSince(whole), Contains(""));
  const auto cut = Listings();
  ASSERT_TRUE(cut->contains(""));
  EXPECT_EQ(cut->at("")->entries, 2u);
  (void)Found({.max_entries = 2});
  EXPECT_EQ(Listings(), cut);
  EXPECT_THAT(Found(), ElementsAre("a/.git"));
}

TEST_F(ListingRecorderTest, WithoutRoomDirectoriesAreReadAgain) {
  for (const char* name : {"a/.git", "b/c/.git"}) Make(name);
  WalkMemory memory({.max_tree_bytes = 1}, NextHour);
  for (int i = 0; i < 2; ++i) {
    const auto found = FindNestedGit({.root = tree_.path()}, [](const std::string&) { return true; }, &memory);
    ASSERT_TRUE(found);
    EXPECT_THAT(*found, UnorderedElementsAre(tree_.path() + "/a/.git", tree_.path() + "/b/c/.git"));
  }
  EXPECT_LT(memory.bytes(), 1000u) << "only the key of the search";
}

}  // namespace
}  // namespace holdfast::sandbox
