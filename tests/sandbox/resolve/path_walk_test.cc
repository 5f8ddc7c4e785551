#include "sandbox/resolve/path_walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

class PathWalkTest : public testing::Test {
 protected:
  PathWalkTest() : directory_(std::filesystem::canonical(scratch_.path()).string()) {
    scratch_.Write("dir/sub/file", "text");
  }

  std::string Path(std::string_view name) const { return directory_ + "/" + std::string(name); }
  void Link(std::string_view name, const std::string& target) { std::filesystem::create_symlink(target, Path(name)); }

  // Returns as text where the path leads, how far the walk has looked, and how many links it has crossed.
  void ExpectWalk(std::string_view from, PathWalk::End end, std::string_view path, std::string_view reached,
                  size_t links = 0) {
    const auto walk = walker_.Walk(Path(from));
    ASSERT_TRUE(walk) << walk.error().message;
    EXPECT_EQ(walk->end, end) << from;
    EXPECT_EQ(walk->path, Path(path));
    EXPECT_EQ(walk->reached, Path(reached));
    EXPECT_EQ(walk->links.size(), links);
  }

  support::ScratchDir scratch_;
  std::string directory_;
  PathWalker walker_;
};

using End = PathWalk::End;

TEST_F(PathWalkTest, EndsAtWhatIsThere) {
  ExpectWalk("dir/sub", End::kDirectory, "dir/sub", "dir/sub");
  ExpectWalk("dir/sub/file", End::kFile, "dir/sub/file", "dir/sub/file");
  const auto root = walker_.Walk("/");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->path, "/");
  EXPECT_EQ(root->end, End::kDirectory);
}

TEST_F(PathWalkTest, NamesTheRestOfAPathThatEndsEarly) {
  ExpectWalk("dir/m/n/o", End::kMissing, "dir/m/n/o", "dir/m");
  ExpectWalk("dir/sub/file/x", End::kUnderFile, "dir/sub/file/x", "dir/sub/file");
}

TEST_F(PathWalkTest, NotesTheDirectoriesThatTheTextOfALinkLeaves) {
  Link("link", "dir/sub/../../dir");
  EXPECT_EQ(walker_.Follow(Path("link")).left, (std::vector<std::string>{Path("dir/sub"), Path("dir")}));
}

// An ordinary user may not read the text of this link.
TEST_F(PathWalkTest, ALinkIntoAnotherProcessLeadsNowhere) {
  Link("link", "/proc/1/root");
  const auto walk = walker_.Walk(Path("link"));
  ASSERT_TRUE(walk) << walk.error().message;
  EXPECT_EQ(walk->end, End::kNowhere);
}

// Directories can lie deeper than a path can be long.
TEST_F(PathWalkTest, OnlyFollowEndsWhereTheKernelCannotLook) {
  const std::string name(200, 'd');
  std::string path = "dir";
  OwnedFd at(::open(Path(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (; path.size() <= PATH_MAX; path += "/" + name) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = OwnedFd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  const auto walk = walker_.Walk(Path(path));
  ASSERT_FALSE(walk);
  EXPECT_EQ(walk.error().kind, ErrnoError("lstat", path, ENAMETOOLONG).kind);
  EXPECT_EQ(walker_.Follow(Path(path)).end, End::kFailed);
}

TEST_F(PathWalkTest, FollowsLinksAsTheKernelDoes) {
  Link("relative", "dir/sub/../sub");
  Link("absolute", Path("relative/file"));
  Link("dir/up", "..");
  ExpectWalk("relative/file", End::kFile, "dir/sub/file", "dir/sub/file", 1);
  ExpectWalk("absolute", End::kFile, "dir/sub/file", "dir/sub/file", 2);
  ExpectWalk("dir/up/dir/up/dir/missing", End::kMissing, "dir/missing", "dir/missing", 2);
}

TEST_F(PathWalkTest, NamesEachLinkByWhereItIs) {
  Link("first", "dir");
  Link("dir/second", "sub");
  const auto walk = walker_.Walk(Path("first/second/file"));
  ASSERT_TRUE(walk);
  ASSERT_EQ(walk->links.size(), 2u);
  EXPECT_EQ(walk->links[0].path, Path("first"));
  EXPECT_EQ(walk->links[0].target, "dir");
  EXPECT_EQ(walk->links[1].path, Path("dir/second"));
}

TEST_F(PathWalkTest, DoesNotGoRoundInCircles) {
  Link("a", "b");
  Link("b", "a/x");
  const auto walk = walker_.Walk(Path("a"));
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->end, End::kNowhere);
}

TEST_F(PathWalkTest, LeavesTheLinksOfProcAlone) {
  const auto walk = walker_.Walk("/proc/self/root/etc");
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->end, End::kNowhere);
  EXPECT_EQ(walk->path, "/proc/self/root/etc");
}

}  // namespace
}  // namespace holdfast::sandbox
