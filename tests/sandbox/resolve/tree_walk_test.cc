#include "sandbox/resolve/tree_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using std::filesystem::create_directories;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Paths = std::vector<std::string>;

// Records the calls that it gets.
class Notes : public TreeVisitor {
 public:
  explicit Notes(std::string left_out = "") : left_out_(std::move(left_out)) {}

  bool Enter(const WalkedDirectory& directory) override {
    EXPECT_EQ(directory.depth, inside_.size());
    if (!left_out_.empty() && directory.path == left_out_) return false;
    inside_.emplace_back(directory.path);
    entered_.emplace_back(directory.path);
    return true;
  }
  bool Seeks(const WalkedDirectory&, std::string_view, EntryKind) const override { return true; }
  Result<> Visit(const WalkedDirectory& directory, std::string_view name, EntryKind kind) override {
    EXPECT_EQ(directory.path, inside_.back());
    seen_.push_back(fmt::format("{}/{}{}", directory.path, name, kind == EntryKind::kDirectory ? "/" : ""));
    return on_visit_(seen_.back());
  }
  void Leave() override { inside_.pop_back(); }

  std::string left_out_;
  std::function<Result<>(const std::string&)> on_visit_ = [](const std::string&) { return Result<>(); };
  Paths inside_, entered_, seen_;
};

class TreeWalkTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return tree_.path() + "/" + name; }
  Result<> Walk(const std::vector<TreeVisitor*>& visitors) const {
    const OwnedFd top(::open(tree_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return WalkTree(top.get(), visitors, {.deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1)});
  }

  support::ScratchDir tree_;
};

TEST_F(TreeWalkTest, ShowsEveryEntryOnce) {
  for (const char* name : {"a/b/1", "a/2", "3", "c/4"}) tree_.Write(name, "");
  create_directories(Path("empty"));
  Notes notes;
  ASSERT_TRUE(Walk({&notes}));
  EXPECT_THAT(notes.seen_, UnorderedElementsAre("/a/", "/3", "/c/", "/empty/", "a/b/", "a/2", "a/b/1", "c/4"));
  EXPECT_THAT(notes.inside_, IsEmpty()) << "what is entered is left";
}

TEST_F(TreeWalkTest, VisitorsLeaveOutDirectoriesEachForItself) {
  for (const char* name : {"a/x/1", "b/x/2"}) tree_.Write(name, "");
  Notes without_a("a"), without_b("b"), all;
  ASSERT_TRUE(Walk({&without_a, &without_b, &all}));
  EXPECT_THAT(without_a.seen_, UnorderedElementsAre("/a/", "/b/", "b/x/", "b/x/2"));
  EXPECT_THAT(without_b.seen_, UnorderedElementsAre("/a/", "/b/", "a/x/", "a/x/1"));
  EXPECT_EQ(all.seen_.size(), 6u);
  for (const Notes* notes : {&without_a, &without_b, &all}) EXPECT_THAT(notes->inside_, IsEmpty());
}

TEST_F(TreeWalkTest, WhatNobodyEntersIsNotOpened) {
  if (::geteuid() == 0) GTEST_SKIP() << "root opens every directory";
  create_directories(Path("locked"));
  ASSERT_EQ(::chmod(Path("locked").c_str(), 0), 0);
  Notes notes("locked"), all;
  EXPECT_TRUE(Walk({&notes}));
  const auto refused = Walk({&all});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "open locked: Permission denied");
  ASSERT_EQ(::chmod(Path("locked").c_str(), 0700), 0);
}

TEST_F(TreeWalkTest, AFailureOfAVisitorEndsIt) {
  for (const char* name : {"a", "b", "c/d"}) tree_.Write(name, "");
  Notes notes;
  notes.on_visit_ = [](const std::string&) { return Result<>(Fail(ErrorKind::kLimit, "enough")); };
  const auto ended = Walk({&notes});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "enough");
  EXPECT_EQ(notes.seen_.size(), 1u);
}

// A command changes the tree during the walk: a directory that it replaces by a link to another place is not followed.
TEST_F(TreeWalkTest, ADirectoryThatBecomesALinkHasNoEntries) {
  const support::ScratchDir elsewhere;
  elsewhere.Write("secret", "");
  tree_.Write("a/1", "");
  Notes notes;
  notes.on_visit_ = [&](const std::string& path) {
    if (path != "/a/") return Result<>();
    std::filesystem::rename(Path("a"), Path("moved"));
    std::filesystem::create_directory_symlink(elsewhere.path(), Path("a"));
    return Result<>();
  };
  ASSERT_TRUE(Walk({&notes}));
  EXPECT_THAT(notes.entered_, testing::Contains("a"));
  EXPECT_THAT(notes.seen_, testing::Not(testing::Contains("a/secret")));
}

// A directory is moved while the walk is below it: the walk goes on in the directory that it has entered, not in the
// one that has its name by then.
TEST_F(TreeWalkTest, ADirectoryThatIsMovedIsWalkedToItsEnd) {
  tree_.Write("a/b/1", "");
  Notes notes;
  notes.on_visit_ = [&](const std::string& path) {
    if (path == "a/b/") {
      std::filesystem::rename(Path("a"), Path("moved"));
      tree_.Write("a/b/other", "");
    }
    return Result<>();
  };
  ASSERT_TRUE(Walk({&notes}));
  EXPECT_THAT(notes.seen_, testing::Contains("a/b/1"));
  EXPECT_THAT(notes.seen_, testing::Not(testing::Contains("a/b/other")));
}

size_t OpenDescriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(TreeWalkTest, ADeepTreeTakesFewDescriptorsAndLeavesNone) {
  std::string path;
  for (int i = 0; i < 600; ++i) path += fmt::format("d{}/", i % 2);
  tree_.Write(path + "bottom", "");
  tree_.Write("d0/beside", "");
  const size_t before = OpenDescriptors();
  size_t most = 0;
  Notes notes;
  notes.on_visit_ = [&](const std::string&) {
    most = std::max(most, OpenDescriptors());
    return Result<>();
  };
  ASSERT_TRUE(Walk({&notes}));
  EXPECT_THAT(notes.seen_, testing::IsSupersetOf({path + "bottom", std::string("d0/beside")}));
  EXPECT_LT(most, before + 100);
  EXPECT_EQ(OpenDescriptors(), before);
}

// A walk takes no lock. The plan therefore keeps commands from moving directories above files that a walk must find.
TEST_F(TreeWalkTest, DoesNotFindADirectoryThatMovesBehindIt) {
  tree_.Write("first/found/1", "");
  tree_.Write("second/found/2", "");
  Notes notes;
  notes.on_visit_ = [&](const std::string& seen) {
    const bool at_first = seen.starts_with("first/"), at_second = seen.starts_with("second/");
    const auto moved = [&](const std::string& from, const std::string& to) {
      std::filesystem::rename(Path(from + "/found"), Path(to + "/moved"));
      notes.on_visit_ = [](const std::string&) { return Result<>(); };
    };
    if (at_first) moved("second", "first");
    if (at_second) moved("first", "second");
    return Result<>();
  };
  ASSERT_TRUE(Walk({&notes}));
  const auto is_file = [](const std::string& seen) { return seen.ends_with("1") || seen.ends_with("2"); };
  EXPECT_EQ(std::ranges::count_if(notes.seen_, is_file), 1);
}

}  // namespace
}  // namespace holdfast::sandbox
