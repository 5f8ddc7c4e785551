#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/copy.h"
#include "files/disk/descent.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/tree_fixture.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

class CopyTreeTest : public TreeTest {
 protected:
  Result<> CopyTree(std::string_view source, std::string_view destination) {
    return Copy(Path(source), Path(destination), Depth::kTree, kNothingGuarded);
  }
};
HOLDFAST_ON_EACH_STORAGE(CopyTreeTest);

TEST_P(CopyTreeTest, CopiesWhatIsInADirectory) {
  MakeDirectory("source", 0750);
  MakeFile("source/file", "text", 0711);
  MakeDirectory("source/sub", 01777);
  MakeFile("source/sub/\xff\n", "odd");
  MakeDirectory("source/sub/empty", 0700);
  MakeLink("source/link", "file");
  MakeLink("source/dangling", "/no/where");

  EXPECT_TRUE(Succeeds(CopyTree("source", "copy")));
  EXPECT_EQ(NamesIn(Path("copy")), (std::vector<std::string>{"dangling", "file", "link", "sub"}));
  EXPECT_EQ(NamesIn(Path("copy/sub")), (std::vector<std::string>{"empty", "\xff\n"}));
  EXPECT_EQ(ReadAll(Path("copy/file")), "text");
  EXPECT_EQ(ReadAll(Path("copy/sub/\xff\n")), "odd");
  EXPECT_EQ(std::filesystem::read_symlink(Path("copy/link")).string(), "file");
  EXPECT_EQ(std::filesystem::read_symlink(Path("copy/dangling")).string(), "/no/where");
  EXPECT_EQ(PermissionsOf(Path("copy")), 0750u);
  EXPECT_EQ(PermissionsOf(Path("copy/file")), 0711u);
  EXPECT_EQ(PermissionsOf(Path("copy/sub")), 01777u);
  EXPECT_EQ(PermissionsOf(Path("copy/sub/empty")), 0700u);
}

TEST_P(CopyTreeTest, LeavesOutWhatCannotBeCopied) {
  MakeDirectory("source");
  MakeFile("source/file");
  MakeFifo("source/fifo");
  MakeSocket("source/socket");
  EXPECT_TRUE(Succeeds(CopyTree("source", "copy")));
  EXPECT_EQ(NamesIn(Path("copy")), std::vector<std::string>{"file"});
}

TEST_P(CopyTreeTest, MergesWithWhatIsThere) {
  MakeDirectory("source", 0700);
  MakeDirectory("source/sub", 0700);
  MakeFile("source/sub/file", "new", 0600);
  MakeDirectory("copy", 0755);
  MakeDirectory("copy/sub", 0711);
  MakeFile("copy/sub/file", "old text");
  MakeFile("copy/sub/kept", "kept");
  EXPECT_TRUE(Succeeds(CopyTree("source", "copy")));
  EXPECT_EQ(ReadAll(Path("copy/sub/file")), "new");
  EXPECT_EQ(PermissionsOf(Path("copy/sub/file")), 0600u);
  EXPECT_EQ(ReadAll(Path("copy/sub/kept")), "kept");
  EXPECT_EQ(PermissionsOf(Path("copy")), 0755u);
  EXPECT_EQ(PermissionsOf(Path("copy/sub")), 0711u);
}

TEST_P(CopyTreeTest, MergesIntoWhereALinkAtTheDestinationLeads) {
  MakeDirectory("source");
  MakeFile("source/file", "text");
  MakeDirectory("real");
  MakeLink("link", "real");
  EXPECT_TRUE(Succeeds(CopyTree("source", "link")));
  EXPECT_EQ(ReadAll(Path("real/file")), "text");
}

TEST_P(CopyTreeTest, MakesTheDirectoriesOnTheWayToTheDestination) {
  MakeDirectory("source", 0700);
  MakeFile("source/file", "text");
  EXPECT_TRUE(Succeeds(CopyTree("source", "a/b/copy")));
  EXPECT_EQ(ReadAll(Path("a/b/copy/file")), "text");
  EXPECT_EQ(PermissionsOf(Path("a/b")), 0755u);
  EXPECT_EQ(PermissionsOf(Path("a/b/copy")), 0700u);
}

TEST_P(CopyTreeTest, RefusesADirectoryUnlessATreeIsMeant) {
  MakeDirectory("source");
  EXPECT_TRUE(FailsWith(Copy(Path("source"), Path("copy"), Depth::kSingle, kNothingGuarded), ErrorKind::kInvalidRequest,
                        "tree"));
  EXPECT_FALSE(Exists(Path("copy")));
}

TEST_P(CopyTreeTest, RefusesADestinationThatIsNoDirectory) {
  MakeDirectory("source");
  MakeFile("file", "text");
  MakeLink("dangling", "nowhere");
  for (const char* name : {"file", "dangling"}) {
    EXPECT_TRUE(FailsWith(CopyTree("source", name), ErrorKind::kSystem, "File exists")) << name;
  }
  EXPECT_TRUE(FailsWith(CopyTree("source", "file/below"), ErrorKind::kSystem, "Not a directory"));
  EXPECT_EQ(ReadAll(Path("file")), "text");
  EXPECT_FALSE(Exists(Path("nowhere")));
}

TEST_P(CopyTreeTest, RefusesToCopyADirectoryIntoItself) {
  MakeDirectory("source");
  MakeDirectory("source/sub");
  MakeLink("link", "source/sub");
  MakeDirectory("source_too");
  for (const char* name : {"source", "source/sub", "source/new", "source/sub/new/new", "link", "link/new"}) {
    EXPECT_TRUE(FailsWith(CopyTree("source", name), ErrorKind::kInvalidRequest, "itself")) << name;
  }
  EXPECT_EQ(NamesIn(Path("source")), std::vector<std::string>{"sub"});
  EXPECT_EQ(NamesIn(Path("source/sub")), std::vector<std::string>());
  EXPECT_TRUE(FailsWith(Copy("/", Path("copy"), Depth::kTree, kNothingGuarded), ErrorKind::kInvalidRequest, "itself"));
  EXPECT_TRUE(Succeeds(CopyTree("source", "source_too/new")));
  EXPECT_TRUE(Succeeds(CopyTree("source/sub", ".")));
}

// The file system has little room, so that a copy without an end fails soon.
TEST(CopyTreeMountTest, EndsWhenTheDestinationIsBelowTheSourceByAMount) {
  const support::SmallTmpfs small(1 << 20);
  if (!small.why_not().empty()) GTEST_SKIP() << small.why_not();
  const std::string source = small.path() + "/source";
  const std::string mounted = small.path() + "/mounted";
  for (const std::string& path : {source, source + "/sub", mounted}) ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
  MakeFileAt(AT_FDCWD, source + "/sub/file", std::string(100'000, 'x'));
  ASSERT_EQ(::mount((source + "/sub").c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr), 0);
  EXPECT_TRUE(Succeeds(Copy(source, mounted + "/copy", Depth::kTree, kNothingGuarded)));
  EXPECT_EQ(NamesIn(source + "/sub/copy/sub"), std::vector<std::string>{"file"});
  EXPECT_EQ(::umount(mounted.c_str()), 0);
}

TEST_P(CopyTreeTest, FollowsNoLinkInsideTheDestination) {
  MakeDirectory("precious");
  MakeFile("precious/file", "precious");
  MakeDirectory("source");
  MakeDirectory("source/sub");
  MakeFile("source/sub/file", "text");
  MakeDirectory("copy");
  MakeLink("copy/sub", Path("precious"));
  EXPECT_TRUE(FailsWith(CopyTree("source", "copy"), ErrorKind::kSystem, Path("copy/sub")));

  ASSERT_EQ(::unlink(Path("copy/sub").c_str()), 0);
  MakeDirectory("copy/sub");
  MakeLink("copy/sub/file", Path("precious/file"));
  EXPECT_TRUE(FailsWith(CopyTree("source", "copy"), ErrorKind::kSystem, Path("copy/sub/file")));
  EXPECT_EQ(ReadAll(Path("precious/file")), "precious");
  EXPECT_EQ(NamesIn(Path("precious")), std::vector<std::string>{"file"});
}

TEST_P(CopyTreeTest, StopsAtALinkThatIsThereAlready) {
  MakeDirectory("source");
  MakeLink("source/link", "one");
  MakeDirectory("copy");
  MakeLink("copy/link", "other");
  EXPECT_TRUE(FailsWith(CopyTree("source", "copy"), ErrorKind::kSystem, "File exists"));
  EXPECT_EQ(std::filesystem::read_symlink(Path("copy/link")).string(), "other");
}

TEST_P(CopyTreeTest, CopiesATreeThatIsDeeperThanAnyPath) {
  const int levels = Many(5000, 200);
  MakeDeepTree(Path("source"), levels, [](int directory) { MakeFileAt(directory, "file", "text"); });
  {
    const DescriptorLimit limit(2 * Descent::kMaxOpen + 4);
    EXPECT_TRUE(Succeeds(CopyTree("source", "copy")));
  }
  EXPECT_EQ(DepthOf(Path("copy"), [](int at) { return ::faccessat(at, "file", F_OK, 0) == 0; }), levels);
  for (const char* name : {"source", "copy"}) EXPECT_TRUE(Succeeds(Remove(Path(name), {}, kNothingGuarded)));
}

TEST_P(CopyTreeTest, CopiesATreeThatIsDeepAndWideAtEveryLevel) {
  const int levels = Many(200, 40);
  const auto names = {"a", "b", "x", "y"};
  MakeDeepTree(Path("source"), levels, [&](int directory) {
    for (const char* name : names) {
      ASSERT_EQ(::mkdirat(directory, name, 0755), 0);
      MakeFileAt(directory, std::string(name) + "/file");
    }
  });
  EXPECT_TRUE(Succeeds(CopyTree("source", "copy")));
  EXPECT_EQ(DepthOf(Path("copy"),
                    [&](int at) {
                      return std::ranges::all_of(names, [&](std::string name) {
                        return ::faccessat(at, (name + "/file").c_str(), F_OK, 0) == 0;
                      });
                    }),
            levels);
}

TEST_P(CopyTreeTest, CopiesDirectoriesThatAreClosedToTheirOwner) {
  const AsOrdinaryUser user;
  MakeDeepTree(Path("source"), 2 * static_cast<int>(Descent::kMaxOpen));
  std::string path = Path("source");
  for (size_t i = 0; i < 2 * Descent::kMaxOpen; ++i) path += "/d";
  for (; path != Path("source"); path = path.substr(0, path.size() - 2)) ASSERT_EQ(::chmod(path.c_str(), 0555), 0);
  EXPECT_TRUE(Succeeds(CopyTree("source", "copy")));
  EXPECT_EQ(DepthOf(Path("copy")), 2 * static_cast<int>(Descent::kMaxOpen));
  EXPECT_EQ(PermissionsOf(Path("copy/d/d")), 0555u);

  MakeDirectory("unread");
  MakeFile("unread/file", "text", 0);
  EXPECT_TRUE(FailsWith(CopyTree("unread", "copy_too"), ErrorKind::kPermissionDenied, Path("unread/file")));
  const Locked unlisted(MakeDirectory("unlisted"), 0300);
  EXPECT_TRUE(FailsWith(CopyTree("unlisted", "copy_three"), ErrorKind::kPermissionDenied, Path("unlisted")));
  for (const char* name : {"source", "copy"}) {
    for (std::string at = Path(name); Exists(at); at += "/d") ASSERT_EQ(::chmod(at.c_str(), 0755), 0);
  }
}

TEST_P(CopyTreeTest, FailsWhenThereIsNoRoom) {
  const support::SmallTmpfs small(256 << 10);
  if (!small.why_not().empty()) GTEST_SKIP() << small.why_not();
  MakeDirectory("source");
  MakeDirectory("source/sub");
  for (int i = 0; i < 10; ++i) MakeFile("source/sub/" + std::to_string(i), std::string(50'000, 'x'));
  EXPECT_TRUE(FailsWith(Copy(Path("source"), small.path() + "/copy", Depth::kTree, kNothingGuarded), ErrorKind::kSystem,
                        "No space"));
}

TEST_P(CopyTreeTest, LeaksNoDescriptors) {
  const size_t before = OpenDescriptors();
  MakeDeepTree(Path("source"), 50, [](int directory) { MakeFileAt(directory, "file"); });
  EXPECT_TRUE(Succeeds(CopyTree("source", "copy")));
  MakeLink("source/link", "x");
  MakeLink("copy/link", "x");
  EXPECT_FALSE(CopyTree("source", "copy"));
  EXPECT_EQ(OpenDescriptors(), before);
}

// Another process exchanges a directory of the source with a link to a secret, again and again.
TEST_P(CopyTreeTest, IsNotLedToASecretByASwappedDirectory) {
  MakeDirectory("secret");
  MakeDirectory("source");
  MakeDirectory("source/victim");
  for (int i = 0; i < 20; ++i) {
    MakeFile("secret/" + std::to_string(i), "secret");
    MakeFile("source/victim/" + std::to_string(i), "public");
  }
  MakeLink("link", Path("secret"));
  const Swapping swapping(Path("source/victim"), Path("link"));
  int copied = 0;
  for (int round = 0; round < Many(1000, 100); ++round) {
    copied += CopyTree("source", "copy").has_value();
    if (Exists(Path("copy/victim")) && !std::filesystem::is_symlink(Path("copy/victim"))) {
      for (const std::string& name : NamesIn(Path("copy/victim"))) {
        ASSERT_NE(ReadAll(Path("copy/victim/") + name), "secret");
      }
    }
    ASSERT_TRUE(Succeeds(Remove(Path("copy"), {}, kNothingGuarded)));
  }
  EXPECT_GT(copied, 0);
}

// Another process exchanges a directory of the destination with a link, again and again.
TEST_P(CopyTreeTest, WritesNowhereElseWhenTheDestinationIsSwapped) {
  MakeDirectory("precious");
  MakeDirectory("source");
  MakeDirectory("source/victim");
  MakeDirectory("source/victim/sub");
  for (int i = 0; i < 20; ++i) MakeFile("source/victim/" + std::to_string(i), "text");
  MakeDirectory("copy");
  MakeDirectory("copy/victim");
  MakeLink("link", Path("precious"));
  const Swapping swapping(Path("copy/victim"), Path("link"));
  int copied = 0;
  for (int round = 0; round < Many(2000, 500); ++round) {
    copied += CopyTree("source", "copy").has_value();
    ASSERT_EQ(NamesIn(Path("precious")), std::vector<std::string>());
  }
  EXPECT_GT(copied, 0);
}

// Another process exchanges a file of the destination with a link, again and again.
TEST_P(CopyTreeTest, OverwritesNothingElseWhenAFileOfTheDestinationIsSwapped) {
  MakeFile("precious", "precious");
  MakeDirectory("source");
  MakeFile("source/victim", "text");
  MakeDirectory("copy");
  MakeFile("copy/victim", "old");
  MakeLink("link", Path("precious"));
  const Swapping swapping(Path("copy/victim"), Path("link"));
  for (int round = 0; round < Many(2000, 500); ++round) {
    (void)CopyTree("source", "copy");  // the copy fails if it finds the link
    ASSERT_EQ(ReadAll(Path("precious")), "precious");
  }
}

TEST_P(CopyTreeTest, DoesNotMindWhatVanishesMeanwhile) {
  MakeDirectory("source");
  MakeFile("source/stays", "text");
  const Meanwhile flickering([&] {
    MakeFileAt(AT_FDCWD, Path("source/flicker"));
    ::mkdir(Path("source/flicker_too").c_str(), 0755);
    ::unlink(Path("source/flicker").c_str());
    ::rmdir(Path("source/flicker_too").c_str());
  });
  for (int round = 0; round < Many(500, 50); ++round) {
    ASSERT_TRUE(Succeeds(CopyTree("source", "copy")));
    ASSERT_EQ(ReadAll(Path("copy/stays")), "text");
    ASSERT_TRUE(Succeeds(Remove(Path("copy"), {}, kNothingGuarded)));
  }
}

}  // namespace
}  // namespace holdfast::files
