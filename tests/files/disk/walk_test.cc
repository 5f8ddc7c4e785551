#include "files/disk/walk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/remove.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/tree_fixture.h"

namespace holdfast::files {
namespace {

using Paths = std::vector<std::string>;

constexpr WalkOptions kWide = {
    .max_depth = 64, .max_directories = 10'000, .max_entries = 50'000, .max_path_bytes = 4 << 20};

WalkOptions Following() {
  WalkOptions options = kWide;
  options.follow_directory_links = true;
  return options;
}

class WalkTest : public TreeTest {
 protected:
  // Returns the paths below `root`; those of directories end in a slash. The rest of the result is in `last_`.
  Paths Walked(const std::string& root, const WalkOptions& options = kWide) {
    auto result = Walk(root, options);
    EXPECT_TRUE(Succeeds(result));
    if (!result) return {};
    last_ = *std::move(result);
    Paths paths;
    for (const WalkEntry& entry : last_.entries) {
      EXPECT_TRUE(entry.path.starts_with(root + "/")) << entry.path;
      paths.push_back(entry.path.substr(root.size() + 1) + (entry.is_directory ? "/" : ""));
    }
    return paths;
  }

  Paths Failed() const {
    Paths paths;
    for (const WalkError& error : last_.errors) paths.push_back(error.path);
    return paths;
  }

  WalkResult last_;
};
HOLDFAST_ON_EACH_STORAGE(WalkTest);

TEST_P(WalkTest, GoesBreadthFirstAndByName) {
  for (const char* name : {"b", "a", ".hidden", "a/z", "a/y", "b/x", "a/y/deep", "\xff"}) MakeDirectory(name);
  for (const char* name : {"Z", "9", "10", "a/file", "a/y/deep/file", "\xff/new\nline"}) MakeFile(name);
  EXPECT_EQ(Walked(Path()), (Paths{".hidden/", "10", "9", "Z", "a/", "b/", "\xff/", "a/file", "a/y/", "a/z/", "b/x/",
                                   "\xff/new\nline", "a/y/deep/", "a/y/deep/file"}));
  EXPECT_FALSE(last_.truncated);
  EXPECT_EQ(Failed(), Paths());
}

TEST_P(WalkTest, LeavesOutWhatIsNeitherFileNorDirectory) {
  MakeFile("file");
  MakeFifo("fifo");
  MakeSocket("socket");
  MakeLink("to_file", "file");
  MakeLink("to_fifo", "fifo");
  MakeLink("to_itself", "to_itself");
  MakeLink("to_nowhere", "nowhere");
  MakeLink("to_directory", "/");
  EXPECT_EQ(Walked(Path()), Paths{"file"});
  ASSERT_EQ(::unlink(Path("to_directory").c_str()), 0);
  EXPECT_EQ(Walked(Path(), Following()), Paths{"file"});
  EXPECT_EQ(Failed(), Paths());
}

TEST_P(WalkTest, FollowsLinksToDirectoriesOnceWhenAsked) {
  MakeDirectory("x");
  MakeFile("x/file");
  MakeDirectory("x/sub");
  MakeLink("x/sub/loop", "..");
  MakeLink("x/self", ".");
  MakeLink("link", "x");
  EXPECT_EQ(Walked(Path()), (Paths{"x/", "x/file", "x/sub/"}));
  // The directory is entered under the name that comes first, and not again under the other names.
  EXPECT_EQ(Walked(Path(), Following()),
            (Paths{"link/", "x/", "link/file", "link/self/", "link/sub/", "link/sub/loop/"}));
  EXPECT_FALSE(last_.truncated);
}

TEST_P(WalkTest, WalksALinkAsTheRootOnlyWhenFollowing) {
  MakeDirectory("real");
  MakeFile("real/file");
  MakeLink("link", "real");
  EXPECT_EQ(Walked(Path("link")), Paths());
  EXPECT_EQ(Walked(Path("link"), Following()), Paths{"file"});
}

TEST_P(WalkTest, FindsNothingBelowAFile) {
  MakeFile("file");
  MakeLink("to_file", "file");
  MakeFifo("fifo");
  for (const char* name : {"file", "to_file", "fifo"}) {
    EXPECT_EQ(Walked(Path(name)), Paths()) << name;
    EXPECT_EQ(Walked(Path(name), Following()), Paths()) << name;
  }
}

TEST_P(WalkTest, FailsWithoutARoot) {
  MakeFile("file");
  MakeLink("dangling", "nowhere");
  for (const WalkOptions& options : {kWide, Following()}) {
    EXPECT_TRUE(FailsWith(Walk(Path("missing"), options), ErrorKind::kNotFound, Path("missing")));
    EXPECT_TRUE(FailsWith(Walk(Path("dangling"), options), ErrorKind::kNotFound, Path("dangling")));
    EXPECT_TRUE(FailsWith(Walk(Path("file/x"), options), ErrorKind::kSystem, "Not a directory"));
  }
}

TEST_P(WalkTest, WalksTheRootDirectory) {
  WalkOptions options = kWide;
  options.max_depth = 0;
  auto result = Walk("/", options);
  ASSERT_TRUE(Succeeds(result));
  EXPECT_TRUE(std::ranges::any_of(result->entries, [](const WalkEntry& entry) { return entry.path == "/tmp"; }));
  options.max_depth = 1;
  options.prune_hidden_directories = true;
  result = Walk("/", options);
  ASSERT_TRUE(Succeeds(result));
  EXPECT_TRUE(std::ranges::any_of(result->entries, [](const WalkEntry& entry) { return entry.path == "/etc/passwd"; }));
}

TEST_P(WalkTest, StopsAtTheDepthWithoutCallingThatTruncated) {
  MakeDirectory("a");
  MakeDirectory("a/b");
  MakeFile("a/b/c");
  WalkOptions options = kWide;
  options.max_depth = 0;
  EXPECT_EQ(Walked(Path(), options), Paths{"a/"});
  options.max_depth = 1;
  EXPECT_EQ(Walked(Path(), options), (Paths{"a/", "a/b/"}));
  EXPECT_FALSE(last_.truncated);
  options.max_depth = 2;
  EXPECT_EQ(Walked(Path(), options), (Paths{"a/", "a/b/", "a/b/c"}));
}

TEST_P(WalkTest, ListsNoMoreDirectoriesThanAllowed) {
  for (const char* name : {"a", "b", ".c"}) MakeDirectory(name);
  MakeFile("a/file");
  MakeFile("b/file");
  WalkOptions options = kWide;
  options.prune_hidden_directories = true;  // hidden directories do not count then
  options.max_directories = 1;
  EXPECT_EQ(Walked(Path(), options), (Paths{".c/", "a/", "b/"}));
  EXPECT_TRUE(last_.truncated);
  options.max_directories = 2;
  EXPECT_EQ(Walked(Path(), options), (Paths{".c/", "a/", "b/", "a/file"}));
  EXPECT_TRUE(last_.truncated);
  options.max_directories = 3;
  EXPECT_EQ(Walked(Path(), options), (Paths{".c/", "a/", "b/", "a/file", "b/file"}));
  EXPECT_FALSE(last_.truncated);
}

TEST_P(WalkTest, DoesNotCountADirectoryItHasBeenTo) {
  MakeDirectory("x");
  MakeLink("y", "x");
  WalkOptions options = Following();
  options.max_directories = 2;
  EXPECT_EQ(Walked(Path(), options), (Paths{"x/", "y/"}));
  EXPECT_FALSE(last_.truncated);
}

TEST_P(WalkTest, LooksAtNoMoreEntriesThanAllowed) {
  MakeDirectory("d");
  for (const char* name : {"c", "a", "e", "b", "d/f"}) MakeFile(name);
  const Paths all = {"a", "b", "c", "d/", "e", "d/f"};
  for (size_t limit = 1; limit <= all.size(); ++limit) {
    WalkOptions options = kWide;
    options.max_entries = limit;
    EXPECT_EQ(Walked(Path(), options), Paths(all.begin(), all.begin() + static_cast<long>(limit)));
    EXPECT_EQ(last_.truncated, limit < all.size()) << limit;
  }
}

TEST_P(WalkTest, CountsEntriesThatItLeavesOut) {
  MakeFifo("a");
  MakeLink("b", "nowhere");
  MakeFile("c");
  WalkOptions options = kWide;
  options.max_entries = 2;
  EXPECT_EQ(Walked(Path(), options), Paths());
  EXPECT_TRUE(last_.truncated);
  options.max_entries = 3;
  EXPECT_EQ(Walked(Path(), options), Paths{"c"});
  EXPECT_FALSE(last_.truncated);
}

TEST_P(WalkTest, FindsTheFirstNamesOfAHugeDirectory) {
  const int count = Many(100'000, 5000);
  const OwnedFd directory(::open(Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = count - 1; i >= 0; --i) MakeFileAt(directory.get(), std::to_string(1'000'000 + i));
  WalkOptions options = kWide;
  options.max_entries = 100;
  const Paths paths = Walked(Path(), options);
  ASSERT_EQ(paths.size(), 100u);
  EXPECT_EQ(paths.front(), "1000000");
  EXPECT_EQ(paths.back(), "1000099");
  EXPECT_TRUE(last_.truncated);
}

TEST_P(WalkTest, StopsBeforeThePathsAreTooLong) {
  for (const char* name : {"a", "b", "c"}) MakeFile(name);
  WalkOptions options = kWide;
  options.max_path_bytes = 2 * (Path().size() + 2);
  EXPECT_EQ(Walked(Path(), options), (Paths{"a", "b"}));
  EXPECT_TRUE(last_.truncated);
  options.max_path_bytes = 3 * (Path().size() + 2);
  EXPECT_EQ(Walked(Path(), options), (Paths{"a", "b", "c"}));
  EXPECT_FALSE(last_.truncated);
}

TEST_P(WalkTest, ListsHiddenDirectoriesWithoutEnteringThemWhenPruned) {
  MakeDirectory(".h");
  MakeDirectory("v");
  MakeDirectory("v/.h");
  for (const char* name : {".file", ".h/file", "v/.file", "v/.h/file"}) MakeFile(name);
  WalkOptions options = Following();
  options.prune_hidden_directories = true;
  EXPECT_EQ(Walked(Path(), options), (Paths{".file", ".h/", "v/", "v/.file", "v/.h/"}));
  EXPECT_EQ(Walked(Path(".h"), options), Paths{"file"});
  MakeLink(".link", "v");
  MakeLink("visible", ".h");
  EXPECT_EQ(Walked(Path(), options),
            (Paths{".file", ".h/", ".link/", "v/", "visible/", "v/.file", "v/.h/", "visible/file"}));
}

TEST_P(WalkTest, ReportsWhatItCannotReadAndGoesOn) {
  const AsOrdinaryUser user;
  const Locked locked(MakeDirectory("a"), 0);
  MakeDirectory("b");
  MakeFile("b/file");
  EXPECT_EQ(Walked(Path()), (Paths{"a/", "b/", "b/file"}));
  EXPECT_EQ(Failed(), Paths{Path("a")});
  EXPECT_TRUE(last_.errors[0].message.contains("Permission denied")) << last_.errors[0].message;
  EXPECT_FALSE(last_.truncated);

  EXPECT_EQ(Walked(Path("a")), Paths());
  EXPECT_EQ(Failed(), Paths{Path("a")});
  EXPECT_TRUE(FailsWith(Walk(Path("a/below"), kWide), ErrorKind::kPermissionDenied, Path("a/below")));
}

TEST_P(WalkTest, ReportsWhatIsTooFarDown) {
  const std::string name(250, 'n');
  OwnedFd at(::open(Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at = OwnedFd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  EXPECT_EQ(Walked(Path()).size(), 17u);
  ASSERT_EQ(last_.errors.size(), 1u);
  EXPECT_TRUE(last_.errors[0].message.contains("too long"));
  ASSERT_TRUE(Succeeds(Remove(Path(name), {}, kNothingGuarded)));
}

TEST_P(WalkTest, IsNotLedOutOfTheTreeByASwappedDirectory) {
  MakeDirectory("outside");
  MakeFile("outside/secret");
  MakeDirectory("tree");
  MakeDirectory("tree/victim");
  MakeFile("tree/victim/file");
  MakeLink("link", Path("outside"));
  const Swapping swapping(Path("tree/victim"), Path("link"));
  for (int round = 0; round < 3000; ++round) {
    for (const std::string& path : Walked(Path("tree"))) ASSERT_NE(path, "victim/secret");
  }
}

}  // namespace
}  // namespace holdfast::files
