#include "sandbox/resolve/walk_memory.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "base/paths.h"
#include "sandbox/policy/glob_parse.h"
#include "sandbox/resolve/file_clock.h"
#include "sandbox/resolve/glob_scan.h"
#include "sandbox/resolve/nested_repositories.h"
#include "sandbox/resolve/resolve.h"
#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using Paths = std::vector<std::string>;

// The patterns by the directory in which each is searched: `a/*.key` is `*.key` in the directory `a`.
using GlobsByRoot = std::map<std::string, std::vector<Glob>>;

GlobsByRoot GlobsFor(const std::string& base, const Paths& patterns) {
  GlobsByRoot globs;
  for (const std::string& pattern : patterns) {
    auto targets = ParseGlob(base, pattern);
    EXPECT_TRUE(targets) << pattern;
    for (GlobTarget& target : *targets) globs[target.path].push_back(*std::move(target.glob));
  }
  return globs;
}

SearchKey KeyFor(const std::string& root, const Paths& patterns) {
  return {.root = root, .globs = GlobsFor(root, patterns).at(root), .max_depth = {}};
}

TreeMemory TreeOf(size_t bytes) {
  return {.top = std::make_shared<RememberedDirectory>(), .bytes = bytes, .max_bytes = bytes, .now = WallClockTime};
}

bool IsRemembered(WalkMemory& memory, const SearchKey& key) { return memory.Recall(key).top != nullptr; }

TEST(WalkMemoryTest, ForgetsTheTreeThatWasNotUsedForLongest) {
  WalkMemory memory({.max_trees = 2});
  for (const char* root : {"/a", "/b"}) memory.Remember(KeyFor(root, {"*"}), TreeOf(1));
  EXPECT_TRUE(IsRemembered(memory, KeyFor("/a", {"*"})));
  memory.Remember(KeyFor("/c", {"*"}), TreeOf(1));
  EXPECT_FALSE(IsRemembered(memory, KeyFor("/b", {"*"})));
  EXPECT_TRUE(IsRemembered(memory, KeyFor("/a", {"*"})));
  EXPECT_TRUE(IsRemembered(memory, KeyFor("/c", {"*"})));
}

TEST(WalkMemoryTest, SearchesForOtherThingsShareNothing) {
  WalkMemory memory;
  memory.Remember(KeyFor("/a", {"*.env", "[a-c]x"}), TreeOf(1));
  EXPECT_TRUE(IsRemembered(memory, KeyFor("/a", {"*.env", "[a-c]x"})));
  EXPECT_FALSE(IsRemembered(memory, KeyFor("/a", {"*.env", "[a-d]x"})));
  EXPECT_FALSE(IsRemembered(memory, KeyFor("/a", {"*.env"})));
  EXPECT_FALSE(IsRemembered(memory, KeyFor("/b", {"*.env", "[a-c]x"})));
  SearchKey shallow = KeyFor("/a", {"*.env", "[a-c]x"});
  shallow.max_depth = 3;
  EXPECT_FALSE(IsRemembered(memory, shallow));
}

TEST(WalkMemoryTest, TheTreesTogetherAreBounded) {
  WalkMemory memory({.max_bytes = 10'000});
  for (const char* root : {"/a", "/b", "/c"}) memory.Remember(KeyFor(root, {"*"}), TreeOf(4'000));
  EXPECT_LE(memory.bytes(), 10'000u);
  EXPECT_FALSE(IsRemembered(memory, KeyFor("/a", {"*"})));
  EXPECT_TRUE(IsRemembered(memory, KeyFor("/c", {"*"})));
  memory.Remember(KeyFor("/c", {"*"}), TreeOf(100));
  EXPECT_LT(memory.bytes(), 6'000u) << "a tree replaces what was remembered of it before";
  memory.Remember(KeyFor("/huge", {"*"}), TreeOf(20'000));
  EXPECT_FALSE(IsRemembered(memory, KeyFor("/huge", {"*"})));
  EXPECT_TRUE(IsRemembered(memory, KeyFor("/b", {"*"}))) << "a tree that does not fit makes no other one go";
}

TEST(WalkMemoryTest, LongPatternsCountToo) {
  WalkMemory memory({.max_bytes = 50'000});
  memory.Remember(KeyFor("/a", {std::string(4'000, 'x') + "*"}), TreeOf(1));
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(WalkMemoryTest, ATreeIsTheOneBeforeWhileAnotherThreadRemembersIt) {
  WalkMemory memory;
  const SearchKey key = KeyFor("/a", {"*"});
  memory.Remember(key, TreeOf(1));
  const TreeMemory recalled = memory.Recall(key);
  const RememberedDirectory* const before = recalled.top.get();
  memory.Remember(key, TreeOf(1));
  EXPECT_NE(memory.Recall(key).top.get(), before);
  EXPECT_EQ(recalled.top.use_count(), 1);
}

// A clock by which directories count as settled with the next tick of the clock of file systems, and not earlier.
timespec SoonSettled() {
  timespec now = FileClockTime();
  now.tv_sec += now.tv_nsec > 0 ? 2 : 1;
  now.tv_nsec = now.tv_nsec > 0 ? now.tv_nsec - 1 : 999'999'999;
  return now;
}

Policy WithoutEnvFiles() {
  return {.files = Policy::Files{{{.where = Place{PlaceKind::kRoot, ""}, .access = Access::kRead},
                                  {.where = Place{PlaceKind::kProjectRoots, ""}, .access = Access::kWrite},
                                  {.where = Pattern{"**/*.env"}, .access = Access::kDeny}},
                                 {}}};
}

TEST(WalkMemoryTest, SeveralThreadsResolveWithOneMemory) {
  const support::ScratchDir tree;
  for (int i = 0; i < 20; ++i) tree.Write(fmt::format("d{}/e/always.env", i), "");
  WalkMemory memory({}, SoonSettled);
  const Surroundings surroundings{.policy_cwd = tree.path(), .project_roots = {}, .tmpdir = {}, .memory = &memory};
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const std::string mine = tree.Write(fmt::format("d{}/e/{}.env", i % 20, thread), "");
        const auto resolution = Resolve(WithoutEnvFiles(), surroundings);
        if (!resolution ||
            std::ranges::find(resolution->denied_by_pattern, mine) == resolution->denied_by_pattern.end())
          ++wrong;
        if (resolution && resolution->denied_by_pattern.size() < 20) ++wrong;
        ::unlink(mine.c_str());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const auto resolution = Resolve(WithoutEnvFiles(), surroundings);
  ASSERT_TRUE(resolution);
  EXPECT_EQ(resolution->denied_by_pattern.size(), 20u);
}

TEST(WalkMemoryTest, WhereALinkLeadsIsLookedUpEachTime) {
  const support::ScratchDir tree, elsewhere;
  for (const char* name : {"1", "2"}) elsewhere.Write(name, "");
  fs::create_symlink(elsewhere.path() + "/link", tree.path() + "/a.env");
  fs::create_symlink("1", elsewhere.path() + "/link");
  WalkMemory memory({}, [] { return timespec{.tv_sec = WallClockTime().tv_sec + 3600, .tv_nsec = 0}; });
  const Surroundings surroundings{.policy_cwd = tree.path(), .project_roots = {}, .tmpdir = {}, .memory = &memory};
  EXPECT_THAT(Resolve(WithoutEnvFiles(), surroundings)->denied_by_pattern, Contains(elsewhere.path() + "/1"));
  EXPECT_GT(memory.bytes(), 0u) << "the directory of the link is remembered";
  fs::remove(elsewhere.path() + "/link");
  fs::create_symlink("2", elsewhere.path() + "/link");
  EXPECT_THAT(Resolve(WithoutEnvFiles(), surroundings)->denied_by_pattern, Contains(elsewhere.path() + "/2"));
}

// Finds repositories, and counts the directories of which the walk reads the name in a listing: no visitor seeks them,
// so a walk with a memory does not ask about them again.
class CountingVisitor : public TreeVisitor {
 public:
  CountingVisitor(const std::string& root, std::string left_out)
      : repositories_(root, [left_out = std::move(left_out)](const std::string& path) { return path != left_out; }) {}

  bool Enter(const WalkedDirectory& directory) override { return repositories_.Enter(directory); }
  bool Seeks(const WalkedDirectory& directory, std::string_view name, EntryKind kind) const override {
    const bool is_sought = repositories_.Seeks(directory, name, kind);
    if (kind == EntryKind::kDirectory && !is_sought) ++read_;
    return is_sought;
  }
  Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind kind) override {
    return repositories_.Visit(directory, name, kind);
  }
  void Leave() override { repositories_.Leave(); }

  RepositoryVisitor repositories_;
  mutable size_t read_ = 0;
};

// A tree that changes at random, and the directory around it. Links at the top of the tree lead there, so it has to be
// the test's own: other programs make and remove a `.git` in the directory for temporary files.
class ChangingTree {
 public:
  ChangingTree(std::string root, unsigned seed) : root_(std::move(root)), random_(seed) {}
  ~ChangingTree() {
    while (!mounts_.empty()) UnmountLast();
  }

  void Change() {
    const std::string directory = SomeDirectory(), path = directory + "/" + SomeName();
    switch (random_() % 15) {
      case 0:
      case 1:
        return MakeFile(path);
      case 2:
      case 3:
        ::mkdir(path.c_str(), 0755);
        return;
      case 4:
        return Remove(path);
      case 5:
      case 6:
        ::rename(path.c_str(), (SomeDirectory() + "/" + SomeName()).c_str());
        return;
      case 7:
        ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, (SomeDirectory() + "/" + SomeName()).c_str(), RENAME_EXCHANGE);
        return;
      case 8:
        ::chmod(directory.c_str(), random_() % 2 == 0 ? 0755 : 0700);
        return;
      case 9:
        return MakeFileAndSetTimesBack(directory, path);
      case 10:
        ::symlink(("../" + SomeName()).c_str(), path.c_str());
        return;
      case 11:
        return MakeOrRemoveBesideTheTree();
      case 12:
        ::link(path.c_str(), (SomeDirectory() + "/" + SomeName()).c_str());
        return;
      case 13:
        return MoveInOrOut(path);
      default:
        return MountOrUnmount(directory);
    }
  }

  size_t mounted() const { return mounted_; }

 private:
  std::string SomeName() { return kNames[random_() % kNames.size()]; }

  std::string SomeDirectory() {
    std::string directory = root_;
    for (size_t depth = random_() % 4; depth > 0; --depth) {
      const std::string below = directory + "/" + SomeName();
      std::error_code missing;
      if (fs::is_directory(fs::symlink_status(below, missing))) directory = below;
    }
    return directory;
  }

  static void MakeFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
  }

  // A directory that is removed and made again often gets the same inode.
  void Remove(const std::string& path) {
    std::error_code busy;
    const bool was_directory = fs::is_directory(fs::symlink_status(path, busy));
    fs::remove_all(path, busy);
    if (was_directory && random_() % 2 == 0) ::mkdir(path.c_str(), 0755);
  }

  static void MakeFileAndSetTimesBack(const std::string& directory, const std::string& path) {
    struct stat before{};
    if (::stat(directory.c_str(), &before) != 0) return;
    MakeFile(path);
    const timespec times[] = {before.st_atim, before.st_mtim};
    ::utimensat(AT_FDCWD, directory.c_str(), times, 0);
  }

  void MakeOrRemoveBesideTheTree() {
    const std::string path = root_ + "/../" + SomeName();
    if (::rmdir(path.c_str()) != 0) ::mkdir(path.c_str(), 0755);
  }

  void MoveInOrOut(const std::string& path) {
    const std::string outside = root_ + "/../" + SomeName();
    if (::rename(path.c_str(), outside.c_str()) != 0) ::rename(outside.c_str(), path.c_str());
  }

  void MountOrUnmount(const std::string& directory) {
    if (directory == root_ || !support::EnterPrivateMounts().empty()) return;
    if (!mounts_.empty() && random_() % 2 == 0) {
      UnmountLast();
    } else if (mounts_.size() < 3) {
      const std::string from = SomeDirectory();
      const bool is_done = random_() % 2 == 0
                               ? ::mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=1m") == 0
                               : from != root_ && !IsAtOrBelow(directory, from) &&
                                     ::mount(from.c_str(), directory.c_str(), nullptr, MS_BIND, nullptr) == 0;
      if (!is_done) return;
      mounts_.emplace_back(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      ++mounted_;
    }
  }

  // A mount may have been moved to another path, with a directory above it, so it is unmounted by its descriptor.
  void UnmountLast() {
    ::umount2(fmt::format("/proc/self/fd/{}", mounts_.back().get()).c_str(), MNT_DETACH);
    mounts_.pop_back();
  }

  static inline const Paths kNames = {"a", "b", "c", "1.env", "2.key", ".git", "node_modules"};

  std::string root_;
  std::mt19937 random_;
  std::vector<OwnedFd> mounts_;  // the top directory of each
  size_t mounted_ = 0;
};

struct Finding {
  Paths matches, repositories;
  Paths nearest;  // the repositories that a search without patterns finds
};

class WalkMemoryRandomTest : public testing::Test {
 protected:
  void TearDown() override {
    std::error_code busy;
    fs::remove_all(root_, busy);
    EXPECT_FALSE(busy) << "something is still mounted in the tree: " << busy.message();
  }

  Finding Scan(const std::string& left_out, WalkMemory* memory) {
    CountingVisitor visitor(root_, left_out);
    std::vector<GlobSearch> searches;
    for (const auto& [root, globs] : globs_) {
      searches.push_back({.root = root, .globs = globs, .companion = root == root_ ? &visitor : nullptr});
    }
    auto matches = ScanGlobs(searches, {.memory = memory});
    EXPECT_TRUE(matches) << matches.error().message;
    (memory == nullptr ? read_without_ : read_with_) += visitor.read_;
    return {matches.value_or(Paths()), visitor.repositories_.Take(), Search(left_out, memory)};
  }

  // The bounds are so tight that changes move directories across them.
  Paths Search(const std::string& left_out, WalkMemory* memory) {
    const NestedSearch search{.root = root_, .max_depth = 3, .max_listed = 6, .max_entries = 15, .max_probed = 4};
    auto found = FindNestedGit(search, [&](const std::string& path) { return path != left_out; }, memory);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(Paths());
  }

  bool IsWatched(WalkMemory& memory) const {
    const OwnedFd top(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return memory.Recall({.root = root_, .globs = {}, .max_depth = {}}).watched->Look(top.get()) != nullptr;
  }

  // Compares the walks of a tree in `directory`, which has nothing in it but the tree.
  void CompareWhileChanging(const std::string& directory, unsigned steps) {
    root_ = directory + "/tree";
    fs::create_directories(root_);
    globs_ = GlobsFor(root_, {"**/*.env", "?/*.key", "**/b/c/*", "[bc]/b/**", ".g*", "a/node*", "a/b/**"});
    WalkMemory memory({.searches_before_watch = 0}, SoonSettled);
    ChangingTree tree(root_, steps);
    size_t found = 0, nearest = 0;
    for (unsigned step = 0; step < steps; ++step) {
      tree.Change();
      if (step % 8 == 0) WaitForTick();
      const std::string left_out = step % 7 == 0 ? root_ + "/a" : "";
      const Finding fresh = Scan(left_out, nullptr), remembered = Scan(left_out, &memory);
      ASSERT_EQ(remembered.matches, fresh.matches) << "step " << step;
      ASSERT_EQ(remembered.repositories, fresh.repositories) << "step " << step;
      ASSERT_EQ(remembered.nearest, fresh.nearest) << "step " << step;
      ASSERT_EQ(Search(left_out, &memory), fresh.nearest) << "step " << step;  // after it the tree may be watched
      watched_ += IsWatched(memory) ? 1 : 0;
      found += fresh.matches.size() + fresh.repositories.size();
      nearest += fresh.nearest.size();
    }
    EXPECT_GT(found, steps) << "the tree was not empty";
    EXPECT_GT(nearest, steps / 10) << "there were repositories";
    EXPECT_LT(read_with_, read_without_ * 3 / 4) << "the memory was of use";
    EXPECT_GT(watched_, steps / 10) << "the tree was watched";
    mounted_ = tree.mounted();
  }

  std::string root_;
  GlobsByRoot globs_;
  size_t read_with_ = 0, read_without_ = 0, mounted_ = 0, watched_ = 0;
};

TEST_F(WalkMemoryRandomTest, FindsTheSameAsAWalkWithoutAMemory) {
  const support::ScratchDir tree;
  CompareWhileChanging(tree.path(), 4000);
  if (support::EnterPrivateMounts().empty()) EXPECT_GT(mounted_, 20u);
}

TEST_F(WalkMemoryRandomTest, FindsTheSameOnATmpfs) {
  const support::SmallTmpfs tree(1u << 20);
  if (!tree.why_not().empty()) GTEST_SKIP() << tree.why_not();
  CompareWhileChanging(tree.path(), 2001);
}

// A directory of the lower layer is copied up when it is changed first.
TEST_F(WalkMemoryRandomTest, FindsTheSameOnAnOverlay) {
  const support::SmallTmpfs layers(4u << 20);
  if (!layers.why_not().empty()) GTEST_SKIP() << layers.why_not();
  for (const char* name : {"lower/tree/a/b/c", "lower/tree/b/a", "lower/tree/c/c", "upper", "work", "merged"}) {
    fs::create_directories(layers.path() + "/" + name);
  }
  fs::create_directories(layers.path() + "/lower/tree/a/node_modules/c");
  for (const char* name : {"lower/tree/a/1.env", "lower/tree/b/a/2.key", "lower/tree/c/1.env"}) {
    ASSERT_TRUE(OwnedFd(::open((layers.path() + "/" + name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).is_open());
  }
  const std::string merged = layers.path() + "/merged";
  const std::string options = fmt::format("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work", layers.path());
  if (::mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) != 0) GTEST_SKIP() << "no overlay";
  CompareWhileChanging(merged, 2002);
  ::umount2(merged.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace holdfast::sandbox
