#include "files/disk/remove.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/descent.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/tree_fixture.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

constexpr RemoveOptions kSingle = {.depth = Depth::kSingle, .absence = Absence::kIsError};
constexpr RemoveOptions kTree = {.depth = Depth::kTree, .absence = Absence::kIsError};

class RemoveTest : public TreeTest {};
HOLDFAST_ON_EACH_STORAGE(RemoveTest);

TEST_P(RemoveTest, RemovesWhateverANameIs) {
  for (const RemoveOptions& options : {kSingle, kTree}) {
    MakeFile("file", "text");
    MakeFile("read_only", "text", 0);
    MakeDirectory("empty");
    MakeFifo("fifo");
    MakeSocket("socket");
    MakeLink("dangling", "nowhere");
    for (const char* name : {"file", "read_only", "empty", "fifo", "socket", "dangling"}) {
      EXPECT_TRUE(Succeeds(Remove(Path(name), options, kNothingGuarded))) << name;
    }
    EXPECT_EQ(NamesIn(Path()), std::vector<std::string>());
  }
}

TEST_P(RemoveTest, KeepsAFullDirectoryUnlessATreeIsMeant) {
  MakeDirectory("full");
  MakeFile("full/file", "text");
  EXPECT_TRUE(FailsWith(Remove(Path("full"), kSingle, kNothingGuarded), ErrorKind::kSystem, "Directory not empty"));
  EXPECT_EQ(ReadAll(Path("full/file")), "text");
  EXPECT_TRUE(Succeeds(Remove(Path("full"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("full")));
}

TEST_P(RemoveTest, RemovesNamesOfAnyBytes) {
  MakeDirectory("tree");
  for (const std::string& name : {std::string("\xff\xfe"), std::string("new\nline"), std::string(" "),
                                  std::string(".hidden"), std::string("-rf"), std::string(255, 'x')}) {
    MakeDirectory("tree/" + name);
    MakeFile("tree/" + name + "/" + name);
  }
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>());
  MakeFile("\xff\n");
  EXPECT_TRUE(Succeeds(Remove(Path("\xff\n"), kSingle, kNothingGuarded)));
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>());
}

TEST_P(RemoveTest, RemovesALinkAndNotWhereItLeads) {
  MakeDirectory("precious");
  MakeFile("precious/file");
  MakeDirectory("tree");
  MakeLink("tree/to_directory", Path("precious"));
  MakeLink("tree/to_file", Path("precious/file"));
  MakeLink("link", Path("precious"));
  for (const RemoveOptions& options : {kSingle, kTree}) {
    EXPECT_TRUE(Succeeds(Remove(Path("link"), options, kNothingGuarded)));
    EXPECT_FALSE(Exists(Path("link")));
    MakeLink("link", Path("precious"));
  }
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("tree")));
  EXPECT_EQ(NamesIn(Path("precious")), std::vector<std::string>{"file"});
}

TEST_P(RemoveTest, ForgivesAbsenceOnlyWhenAsked) {
  const RemoveOptions forgiving = {.depth = Depth::kTree, .absence = Absence::kIsFine};
  MakeFile("file");
  for (const char* name : {"missing", "missing/too"}) {
    EXPECT_TRUE(Succeeds(Remove(Path(name), forgiving, kNothingGuarded))) << name;
    EXPECT_TRUE(FailsWith(Remove(Path(name), kTree, kNothingGuarded), ErrorKind::kNotFound, "No such file")) << name;
    EXPECT_TRUE(FailsWith(Remove(Path(name), kSingle, kNothingGuarded), ErrorKind::kNotFound, "No such file")) << name;
  }
  EXPECT_TRUE(FailsWith(Remove(Path("file/below"), forgiving, kNothingGuarded), ErrorKind::kSystem, "Not a directory"));
}

TEST_P(RemoveTest, LeavesTheRootAlone) {
  EXPECT_TRUE(FailsWith(Remove("/", kTree, kNothingGuarded), ErrorKind::kInvalidRequest, "root"));
  EXPECT_TRUE(FailsWith(Remove("/", kSingle, kNothingGuarded), ErrorKind::kInvalidRequest, "root"));
}

TEST_P(RemoveTest, GoesThroughALinkInThePathUnlessRefused) {
  MakeDirectory("real");
  MakeDirectory("real/tree");
  MakeFile("real/tree/file");
  MakeLink("link", "real");
  RemoveOptions options = {.depth = Depth::kTree, .absence = Absence::kIsFine, .symlinks = Symlinks::kRefuse};
  EXPECT_TRUE(FailsWith(Remove(Path("link/tree"), options, kNothingGuarded), ErrorKind::kSystem, "symbolic links"));
  EXPECT_TRUE(Exists(Path("real/tree/file")));
  options.symlinks = Symlinks::kFollow;
  EXPECT_TRUE(Succeeds(Remove(Path("link/tree"), options, kNothingGuarded)));
  EXPECT_EQ(NamesIn(Path("real")), std::vector<std::string>());
  options.symlinks = Symlinks::kRefuse;
  EXPECT_TRUE(FailsWith(Remove(Path("link"), options, kNothingGuarded), ErrorKind::kInvalidRequest, "symbolic link"));
  EXPECT_TRUE(Exists(Path("real")));
}

TEST_P(RemoveTest, RemovesATreeThatIsDeeperThanAnyPath) {
  MakeDeepTree(Path("tree"), Many(5000, 200), [](int directory) { MakeFileAt(directory, "file"); });
  const DescriptorLimit limit(Descent::kMaxOpen + 4);
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("tree")));
}

// The names that are remembered for levels far above are dropped and found again.
TEST_P(RemoveTest, RemovesATreeThatIsDeepAndWideAtEveryLevel) {
  MakeDeepTree(Path("tree"), Many(200, 50), [](int directory) {
    for (const char* name : {"a", "b", "x", "y"}) {
      ASSERT_EQ(::mkdirat(directory, name, 0755), 0);
      MakeFileAt(directory, std::string(name) + "/file");
    }
  });
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("tree")));
}

TEST_P(RemoveTest, RemovesManyFullDirectoriesSideBySide) {
  MakeDirectory("tree");
  for (int i = 0; i < Many(1000, 300); ++i) {
    MakeDirectory("tree/" + std::to_string(i));
    MakeFile("tree/" + std::to_string(i) + "/file");
  }
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("tree")));
}

TEST_P(RemoveTest, RemovesManyDeepTreesSideBySide) {
  MakeDirectory("tree");
  for (int i = 0; i < Many(50, 3); ++i) MakeDeepTree(Path("tree/") + std::to_string(i), 2 * Descent::kMaxOpen);
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("tree")));
}

TEST_P(RemoveTest, RemovesADirectoryOfVeryManyNames) {
  MakeDirectory("tree");
  const OwnedFd tree(::open(Path("tree").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < Many(100'000, 10'000); ++i) MakeFileAt(tree.get(), "some_longer_name_" + std::to_string(i));
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("tree")));
}

TEST_P(RemoveTest, SaysWhatItMayNotRemove) {
  const AsOrdinaryUser user;
  MakeDirectory("tree");
  MakeDirectory("tree/locked");
  MakeFile("tree/locked/file");
  ASSERT_EQ(::chmod(Path("tree/locked").c_str(), 0555), 0);
  EXPECT_TRUE(
      FailsWith(Remove(Path("tree"), kTree, kNothingGuarded), ErrorKind::kPermissionDenied, Path("tree/locked/file")));
  ASSERT_EQ(::chmod(Path("tree/locked").c_str(), 0), 0);
  EXPECT_TRUE(
      FailsWith(Remove(Path("tree"), kTree, kNothingGuarded), ErrorKind::kPermissionDenied, Path("tree/locked")));
  ASSERT_EQ(::chmod(Path("tree/locked").c_str(), 0755), 0);
  EXPECT_TRUE(Exists(Path("tree/locked/file")));
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
}

TEST_P(RemoveTest, DoesNotNeedToReadAnEmptyDirectory) {
  const AsOrdinaryUser user;
  MakeDirectory("tree");
  MakeDirectory("tree/secret", 0);
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Exists(Path("tree")));
}

TEST_P(RemoveTest, ReachesNothingThatIsMountedInTheTree) {
  const std::string& why_not = support::EnterPrivateMounts();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  MakeDirectory("precious");
  MakeFile("precious/file", "text");
  MakeDirectory("tree");
  MakeDirectory("tree/mounted");
  ASSERT_EQ(::mount(Path("precious").c_str(), Path("tree/mounted").c_str(), nullptr, MS_BIND, nullptr), 0);
  EXPECT_TRUE(FailsWith(Remove(Path("tree"), kTree, kNothingGuarded), ErrorKind::kSystem, "busy"));
  EXPECT_EQ(::umount(Path("tree/mounted").c_str()), 0);
  EXPECT_EQ(ReadAll(Path("precious/file")), "text");
}

TEST_P(RemoveTest, LeaksNoDescriptors) {
  const size_t before = OpenDescriptors();
  MakeDeepTree(Path("tree"), 100);
  EXPECT_TRUE(Succeeds(Remove(Path("tree"), kTree, kNothingGuarded)));
  EXPECT_FALSE(Remove(Path("tree"), kTree, kNothingGuarded));
  EXPECT_EQ(OpenDescriptors(), before);
}

// Another thread exchanges a directory of the tree with a link to a directory that must stay, again and again. A busy
// machine may give that thread no time for a while: there are more rounds until it has swapped once.
TEST_P(RemoveTest, IsNotLedAstrayByASwappedDirectory) {
  MakeDirectory("precious");
  for (int i = 0; i < 20; ++i) MakeFile("precious/" + std::to_string(i));
  MakeDirectory("precious/directory");
  MakeFile("precious/directory/file");
  const auto names = NamesIn(Path("precious"));

  std::atomic<int> swaps = 0;
  const Meanwhile swapping([&] { swaps += Swap(Path("tree/victim"), Path("link")); });
  const int rounds = Many(1000, 200);
  for (int round = 0; round < rounds || (swaps == 0 && round < 50 * rounds); ++round) {
    MakeDirectory("tree");
    MakeDirectory("tree/victim");
    for (int i = 0; i < 20; ++i) MakeFileAt(AT_FDCWD, Path("tree/victim") + "/" + std::to_string(i));
    if (!Exists(Path("link"))) MakeLink("link", Path("precious"));
    // The removal fails if it loses the race too often.
    (void)Remove(Path("tree"), kTree, kNothingGuarded);
    ASSERT_EQ(NamesIn(Path("precious")), names);
    ASSERT_EQ(NamesIn(Path("precious/directory")), std::vector<std::string>{"file"});
    // The victim may lie at the path of the link.
    for (const char* name : {"tree", "link"}) ASSERT_TRUE(Succeeds(Remove(Path(name), {}, kNothingGuarded)));
  }
  EXPECT_GT(swaps, 0);
}

TEST_P(RemoveTest, EndsThoughSomebodyFillsTheTreeAgain) {
  MakeDirectory("tree");
  MakeDirectory("tree/sub");
  const Meanwhile filling([&] {
    static int n = 0;
    const OwnedFd made(::open((Path("tree/sub/") + std::to_string(++n)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    ::mkdir(Path("tree/sub").c_str(), 0755);
  });
  for (int round = 0; round < Many(100, 20); ++round) {
    ::mkdir(Path("tree").c_str(), 0755);
    auto removed = Remove(Path("tree"), kTree, kNothingGuarded);
    if (!removed) EXPECT_TRUE(FailsWith(removed, ErrorKind::kSystem, "Directory not empty"));
  }
}

TEST_P(RemoveTest, SharesTheWorkWithAnother) {
  for (int round = 0; round < Many(50, 5); ++round) {
    MakeDeepTree(Path("tree"), 60, [](int directory) {
      for (const char* name : {"1", "2", "3", "4"}) MakeFileAt(directory, name);
    });
    Result<> other;
    std::thread another([&] { other = Remove(Path("tree"), {}, kNothingGuarded); });
    EXPECT_TRUE(Succeeds(Remove(Path("tree"), {}, kNothingGuarded)));
    another.join();
    EXPECT_TRUE(Succeeds(other));
    EXPECT_FALSE(Exists(Path("tree")));
  }
}

}  // namespace
}  // namespace holdfast::files
