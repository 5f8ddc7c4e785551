#include "sandbox/resolve/tree_recorder.h"

#include <fcntl.h>
#include <sys/mount.h>
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
#include "sandbox/resolve/file_clock.h"
#include "sandbox/resolve/tree_walk.h"
#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::sandbox {
namespace {

using std::filesystem::create_directories;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;
using Paths = std::vector<std::string>;

std::string Join(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

// Seeks `*.env`, or names with another end. The directories that a walk reads are those of which it is asked about
// other entries too.
class EnvVisitor : public TreeVisitor {
 public:
  explicit EnvVisitor(std::string left_out = "", std::string end = ".env")
      : left_out_(std::move(left_out)), end_(std::move(end)) {}

  bool Enter(const WalkedDirectory& directory) override { return left_out_.empty() || directory.path != left_out_; }
  bool Seeks(const WalkedDirectory& directory, std::string_view name, EntryKind) const override {
    if (name == "mark") read_.emplace_back(directory.path);
    return name.ends_with(end_);
  }
  Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind) override {
    found_.push_back(Join(directory.path, name));
    return {};
  }
  void Leave() override {}

  std::string left_out_, end_;
  mutable Paths read_;
  Paths found_;
};

class TreeRecorderTest : public testing::Test {
 protected:
  TreeRecorderTest() {
    memory_.max_bytes = 1u << 20;
    memory_.now = [this] {
      timespec now = WallClockTime();
      now.tv_sec += ahead_s_;
      return now;
    };
  }

  std::string Path(const std::string& name) const { return tree_.path() + "/" + name; }
  void MakeFile(const std::string& name) const { tree_.Write(name, ""); }

  // Makes a directory with a file `mark`, which tells that the directory was read.
  void MakeMarked(const std::string& name) const { MakeFile(Join(name, "mark")); }

  static Result<> WalkAt(const std::string& path, const std::vector<TreeVisitor*>& visitors, TreeMemory* memory) {
    const OwnedFd top(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    return WalkTree(top.get(), visitors, {.deadline = deadline, .memory = memory});
  }

  EnvVisitor Walk(EnvVisitor visitor = EnvVisitor()) {
    const auto walked = WalkAt(tree_.path(), {&visitor}, &memory_);
    EXPECT_TRUE(walked) << walked.error().message;
    WaitForTick();
    return visitor;
  }

  support::ScratchDir tree_;
  time_t ahead_s_ = 3600;  // by so much the clock of the walk is ahead, so that directories count as settled at once
  TreeMemory memory_;
};

TEST_F(TreeRecorderTest, ADirectoryThatHasNotChangedIsNotReadAgain) {
  for (const char* name : {"", "a", "a/b", "c"}) MakeMarked(name);
  for (const char* name : {"1.env", "a/b/2.env"}) MakeFile(name);
  const EnvVisitor first = Walk();
  EXPECT_THAT(first.read_, UnorderedElementsAre("", "a", "a/b", "c"));
  const EnvVisitor second = Walk();
  EXPECT_THAT(second.read_, IsEmpty());
  EXPECT_THAT(second.found_, UnorderedElementsAre("1.env", "a/b/2.env"));
}

TEST_F(TreeRecorderTest, OnlyTheDirectoryThatHasChangedIsReadAgain) {
  for (const char* name : {"", "a", "a/b", "a/b/c", "d"}) MakeMarked(name);
  Walk();
  MakeFile("a/b/new.env");
  const EnvVisitor second = Walk();
  EXPECT_THAT(second.read_, ElementsAre("a/b"));
  EXPECT_THAT(second.found_, ElementsAre("a/b/new.env"));
  std::filesystem::remove(Path("a/b/new.env"));
  const EnvVisitor third = Walk();
  EXPECT_THAT(third.read_, ElementsAre("a/b"));
  EXPECT_THAT(third.found_, IsEmpty());
  EXPECT_THAT(Walk().read_, IsEmpty());
}

// A command can set the modification time of a directory to any value.
TEST_F(TreeRecorderTest, AModificationTimeThatIsSetBackHidesNothing) {
  MakeMarked("a");
  struct stat before{};
  ASSERT_EQ(::stat(Path("a").c_str(), &before), 0);
  Walk();
  MakeFile("a/new.env");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, Path("a").c_str(), times, 0), 0);
  struct stat after{};
  ASSERT_EQ(::stat(Path("a").c_str(), &after), 0);
  ASSERT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  ASSERT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  EXPECT_THAT(Walk().found_, ElementsAre("a/new.env"));
}

TEST_F(TreeRecorderTest, AChangeOfTheLastTwoSecondsIsNotTrusted) {
  ahead_s_ = 0;
  MakeMarked("a");
  MakeMarked("b");
  Walk();
  EXPECT_THAT(Walk().read_, UnorderedElementsAre("a", "b"));
  ahead_s_ = 2;
  EXPECT_THAT(Walk().read_, UnorderedElementsAre("a", "b")) << "they were not settled when they were read";
  EXPECT_THAT(Walk().read_, IsEmpty());
}

TEST_F(TreeRecorderTest, AChangeTimeInTheFutureIsNotTrusted) {
  MakeMarked("a");
  ahead_s_ = -3600;
  Walk();
  EXPECT_THAT(Walk().read_, ElementsAre("a"));
}

TEST(DirectoryStateTest, IsSettledAfterTwoSeconds) {
  const DirectoryState state{.changed_s = 100, .changed_ns = 500};
  EXPECT_FALSE(IsSettled(state, {.tv_sec = 100, .tv_nsec = 600}));
  EXPECT_FALSE(IsSettled(state, {.tv_sec = 102, .tv_nsec = 499}));
  EXPECT_TRUE(IsSettled(state, {.tv_sec = 102, .tv_nsec = 500}));
  EXPECT_FALSE(IsSettled(state, {.tv_sec = 99, .tv_nsec = 0}));
}

// The entries of a directory come from the kernel many at a time, so that the new file is not among them.
TEST_F(TreeRecorderTest, AFileThatIsMadeWhileADirectoryIsReadIsFoundByTheNextWalk) {
  class Making : public EnvVisitor {
   public:
    explicit Making(std::string path) : path_(std::move(path)) {}
    bool Seeks(const WalkedDirectory&, std::string_view, EntryKind) const override {
      return OwnedFd(::open(path_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).is_open() && false;
    }
    std::string path_;
  };
  MakeMarked("");
  WaitForTick();
  Making making(Path("new.env"));
  ASSERT_TRUE(WalkAt(tree_.path(), {&making}, &memory_));
  EXPECT_THAT(Walk().found_, ElementsAre("new.env"));
}

// The names of the directories are the same afterwards, and the change times of those below are old ones.
TEST_F(TreeRecorderTest, ExchangedDirectoriesAreTakenForWhatTheyAre) {
  for (const char* name : {"a/x/y/1.env", "b/x/y/2.env"}) MakeFile(name);
  Walk();
  ASSERT_EQ(::renameat2(AT_FDCWD, Path("a/x").c_str(), AT_FDCWD, Path("b/x").c_str(), RENAME_EXCHANGE), 0);
  EXPECT_THAT(Walk().found_, UnorderedElementsAre("a/x/y/2.env", "b/x/y/1.env"));
}

TEST_F(TreeRecorderTest, ADirectoryThatBecameALinkHasNoEntries) {
  MakeFile("a/1.env");
  Walk();
  std::filesystem::rename(Path("a"), Path("moved"));
  std::filesystem::create_directory_symlink("moved", Path("a"));
  EXPECT_THAT(Walk().found_, ElementsAre("moved/1.env"));
}

TEST_F(TreeRecorderTest, AVisitorThatEntersADirectoryLaterSeesItsEntries) {
  for (const char* name : {"a/b/1.env", "a/b/2.key"}) MakeFile(name);
  EnvVisitor env, keys_elsewhere("a", ".key");
  ASSERT_TRUE(WalkAt(tree_.path(), {&env, &keys_elsewhere}, &memory_));
  EXPECT_THAT(keys_elsewhere.found_, IsEmpty());
  EnvVisitor env_elsewhere("a"), keys("", ".key");
  ASSERT_TRUE(WalkAt(tree_.path(), {&env_elsewhere, &keys}, &memory_));
  EXPECT_THAT(env_elsewhere.found_, IsEmpty());
  EXPECT_THAT(keys.found_, ElementsAre("a/b/2.key"));
}

TEST_F(TreeRecorderTest, ADirectoryThatNoVisitorEntersIsForgotten) {
  for (const char* name : {"a", "a/b", "c"}) MakeMarked(name);
  Walk();
  const size_t bytes = memory_.bytes;
  EXPECT_THAT(Walk(EnvVisitor("a")).read_, IsEmpty());
  EXPECT_LT(memory_.bytes, bytes);
  EXPECT_THAT(Walk().read_, UnorderedElementsAre("a", "a/b"));
  EXPECT_EQ(memory_.bytes, bytes);
}

TEST_F(TreeRecorderTest, AWalkThatFailsLeavesTheMemoryAsItWas) {
  class Failing : public EnvVisitor {
   public:
    Result<> Visit(const WalkedDirectory&, std::string_view, EntryKind) override {
      return Fail(ErrorKind::kLimit, "enough");
    }
  };
  for (const char* name : {"a", "b"}) MakeMarked(name);
  Walk();
  const RememberedPointer top = memory_.top;
  MakeFile("a/1.env");
  Failing failing;
  EXPECT_FALSE(WalkAt(tree_.path(), {&failing}, &memory_));
  EXPECT_EQ(memory_.top, top);
  EXPECT_THAT(Walk().found_, ElementsAre("a/1.env"));
}

TEST_F(TreeRecorderTest, DirectoriesWithoutRoomAreReadOnEachWalk) {
  for (int i = 0; i < 100; ++i) MakeMarked(fmt::format("d{}/sub", i));
  MakeFile("d7/sub/1.env");
  memory_.max_bytes = 20'000;
  Walk();
  EXPECT_LE(memory_.bytes, memory_.max_bytes);
  EXPECT_GT(memory_.bytes, memory_.max_bytes / 2);
  for (int round = 0; round < 3; ++round) {
    const EnvVisitor again = Walk();
    EXPECT_THAT(again.found_, ElementsAre("d7/sub/1.env"));
    EXPECT_GT(again.read_.size(), 20u);
    EXPECT_LT(again.read_.size(), 90u);
    EXPECT_LE(memory_.bytes, memory_.max_bytes);
  }
}

size_t OpenDescriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// The path from the top to the deepest directory is longer than any path that the kernel takes.
TEST_F(TreeRecorderTest, ADeepTreeIsLookedAtInPieces) {
  OwnedFd at(::open(tree_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string name(100, 'd');
  for (int i = 0; i < 90; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = OwnedFd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (const char* file : {"mark", "1.env"}) {
      ASSERT_TRUE(OwnedFd(::openat(at.get(), file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).is_open());
    }
  }
  const size_t before = OpenDescriptors();
  EXPECT_EQ(Walk().read_.size(), 90u);
  const EnvVisitor second = Walk();
  EXPECT_THAT(second.read_, IsEmpty());
  EXPECT_EQ(second.found_.size(), 90u);
  ASSERT_TRUE(OwnedFd(::openat(at.get(), "2.env", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).is_open());
  const EnvVisitor third = Walk();
  EXPECT_EQ(third.read_.size(), 1u);
  EXPECT_EQ(third.found_.size(), 91u);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(TreeRecorderTest, ADirectoryThatMayNoLongerBeReadIsAFailure) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  MakeMarked("a/b");
  Walk();
  EnvVisitor visitor;
  ASSERT_EQ(::chmod(Path("a/b").c_str(), 0), 0);
  const auto locked = WalkAt(tree_.path(), {&visitor}, &memory_);
  ASSERT_EQ(::chmod(Path("a/b").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(Path("a").c_str(), 0400), 0);
  const auto unsearchable = WalkAt(tree_.path(), {&visitor}, &memory_);
  ASSERT_EQ(::chmod(Path("a").c_str(), 0700), 0);
  for (const auto& refused : {locked, unsearchable}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "open a/b: Permission denied");
  }
}

TEST_F(TreeRecorderTest, AMountOnARememberedDirectoryIsRead) {
  if (const std::string& why_not = support::EnterPrivateMounts(); !why_not.empty()) GTEST_SKIP() << why_not;
  MakeFile("a/b/1.env");
  MakeFile("other/b/2.env");
  Walk();
  ASSERT_EQ(::mount(Path("other").c_str(), Path("a").c_str(), nullptr, MS_BIND, nullptr), 0);
  EXPECT_THAT(Walk().found_, UnorderedElementsAre("a/b/2.env", "other/b/2.env"));
  ASSERT_EQ(::umount(Path("a").c_str()), 0);
  EXPECT_THAT(Walk().found_, UnorderedElementsAre("a/b/1.env", "other/b/2.env"));
}

// Counts the entries that a walk asks about, and seeks none of them.
class EntryCount : public EnvVisitor {
 public:
  bool Enter(const WalkedDirectory& directory) override { return directory.depth < 2; }
  bool Seeks(const WalkedDirectory&, std::string_view, EntryKind) const override { return ++count_ == 0; }
  mutable int count_ = 0;
};

// The names in /proc come and go, and its directories have the change time of the first look at them.
TEST_F(TreeRecorderTest, ADirectoryOfAnotherKindOfFileSystemIsReadOnEachWalk) {
  for (int round = 0; round < 2; ++round) {
    EntryCount entries;
    ASSERT_TRUE(WalkAt("/proc/self/task", {&entries}, &memory_));
    EXPECT_GT(entries.count_, 10);
  }
}

TEST_F(TreeRecorderTest, AMountOfAnotherKindOfFileSystemIsReadOnEachWalk) {
  if (const std::string& why_not = support::EnterPrivateMounts(); !why_not.empty()) GTEST_SKIP() << why_not;
  create_directories(Path("a"));
  ASSERT_EQ(::mount("/proc/self/fdinfo", Path("a").c_str(), nullptr, MS_BIND, nullptr), 0);
  for (int round = 0; round < 2; ++round) {
    EntryCount entries;
    EXPECT_TRUE(WalkAt(tree_.path(), {&entries}, &memory_));
    EXPECT_GE(entries.count_, 3) << "there are descriptors";
  }
  ASSERT_EQ(::umount(Path("a").c_str()), 0);
}

}  // namespace
}  // namespace holdfast::sandbox
