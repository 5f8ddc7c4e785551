#include "files/disk/directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/storage_fixture.h"
#include "support/proc.h"

namespace holdfast::files {
namespace {

constexpr Symlinks kBoth[] = {Symlinks::kFollow, Symlinks::kRefuse};
constexpr Parents kBothParents[] = {Parents::kMustExist, Parents::kCreate};

class CreateDirectoryTest : public StorageTest {};
HOLDFAST_ON_EACH_STORAGE(CreateDirectoryTest);

TEST_P(CreateDirectoryTest, MakesOneWithTheModeLessTheUmask) {
  for (const Symlinks symlinks : kBoth) {
    for (const Parents parents : kBothParents) {
      EXPECT_TRUE(Succeeds(CreateDirectory(Path("folder"), parents, symlinks, kNothingGuarded)));
      EXPECT_TRUE(S_ISDIR(StatOf(Path("folder")).st_mode));
      EXPECT_EQ(PermissionsOf(Path("folder")), 0755u);
      ASSERT_EQ(::rmdir(Path("folder").c_str()), 0);
    }
  }
}

TEST_P(CreateDirectoryTest, MakesParentsOnlyWhenTold) {
  for (const Symlinks symlinks : kBoth) {
    const std::string top = Path(symlinks == Symlinks::kFollow ? "follow" : "refuse"), path = top + "/b/c/d";
    EXPECT_TRUE(
        FailsWith(CreateDirectory(path, Parents::kMustExist, symlinks, kNothingGuarded), ErrorKind::kNotFound, path));
    EXPECT_FALSE(std::filesystem::exists(top));
    EXPECT_TRUE(Succeeds(CreateDirectory(path, Parents::kCreate, symlinks, kNothingGuarded)));
    EXPECT_TRUE(std::filesystem::is_directory(path));
    EXPECT_EQ(PermissionsOf(top), 0755u);
  }
}

TEST_P(CreateDirectoryTest, IsContentWithADirectoryOnlyWhenItMayMakeParents) {
  const std::string path = MakeDirectory("folder", 0700);
  for (const Symlinks symlinks : kBoth) {
    for (const std::string& existing : {path, path + "/", std::string("/")}) {
      EXPECT_TRUE(Succeeds(CreateDirectory(existing, Parents::kCreate, symlinks, kNothingGuarded)));
      EXPECT_TRUE(FailsWith(CreateDirectory(existing, Parents::kMustExist, symlinks, kNothingGuarded),
                            ErrorKind::kSystem, existing + ": File exists"));
    }
  }
  EXPECT_EQ(PermissionsOf(path), 0700u);
}

TEST_P(CreateDirectoryTest, DoesNotTakeAnotherKindOfFileForADirectory) {
  for (const std::string& path : {MakeFile("file", "text"), MakeFifo("fifo"), MakeSocket("socket")}) {
    for (const Symlinks symlinks : kBoth) {
      for (const Parents parents : kBothParents) {
        EXPECT_TRUE(FailsWith(CreateDirectory(path, parents, symlinks, kNothingGuarded), ErrorKind::kSystem,
                              "mkdir " + path + ": File exists"));
        EXPECT_TRUE(
            FailsWith(CreateDirectory(path + "/below", parents, symlinks, kNothingGuarded), ErrorKind::kSystem, path));
        EXPECT_TRUE(FailsWith(CreateDirectory(path + "/x/y", parents, symlinks, kNothingGuarded), ErrorKind::kSystem,
                              "Not a directory"));
      }
    }
  }
}

TEST_P(CreateDirectoryTest, FollowsLinksOrRefusesThem) {
  MakeDirectory("folder");
  const std::string link = MakeLink("link", "folder");
  EXPECT_TRUE(Succeeds(CreateDirectory(link, Parents::kCreate, Symlinks::kFollow, kNothingGuarded)));
  EXPECT_TRUE(Succeeds(CreateDirectory(link + "/one", Parents::kMustExist, Symlinks::kFollow, kNothingGuarded)));
  EXPECT_TRUE(Succeeds(CreateDirectory(link + "/two/three", Parents::kCreate, Symlinks::kFollow, kNothingGuarded)));
  EXPECT_TRUE(std::filesystem::is_directory(Path("folder/two/three")));
  EXPECT_TRUE(FailsWith(CreateDirectory(link, Parents::kMustExist, Symlinks::kFollow, kNothingGuarded),
                        ErrorKind::kSystem, "exists"));

  EXPECT_TRUE(FailsWith(CreateDirectory(link, Parents::kMustExist, Symlinks::kRefuse, kNothingGuarded),
                        ErrorKind::kSystem, "exists"));
  EXPECT_TRUE(FailsWith(CreateDirectory(link, Parents::kCreate, Symlinks::kRefuse, kNothingGuarded), ErrorKind::kSystem,
                        "symbolic links"));
  for (const Parents parents : kBothParents) {
    for (const char* below : {"/four", "/one", "/one/five"}) {
      EXPECT_TRUE(FailsWith(CreateDirectory(link + below, parents, Symlinks::kRefuse, kNothingGuarded),
                            ErrorKind::kSystem, "symbolic links"));
    }
  }
  EXPECT_EQ(NamesIn(Path("folder")), (std::vector<std::string>{"one", "two"}));
}

TEST_P(CreateDirectoryTest, DoesNotMakeWhatADanglingLinkPointsAt) {
  const std::string link = MakeLink("link", "nowhere");
  EXPECT_TRUE(FailsWith(CreateDirectory(link, Parents::kMustExist, Symlinks::kFollow, kNothingGuarded),
                        ErrorKind::kSystem, "exists"));
  EXPECT_TRUE(FailsWith(CreateDirectory(link, Parents::kCreate, Symlinks::kFollow, kNothingGuarded), ErrorKind::kSystem,
                        "exists"));
  EXPECT_TRUE(FailsWith(CreateDirectory(link + "/x", Parents::kCreate, Symlinks::kFollow, kNothingGuarded),
                        ErrorKind::kSystem, "exists"));
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"link"});
}

TEST_P(CreateDirectoryTest, FailsOnALoopOfLinks) {
  MakeLink("loop", "loop");
  EXPECT_TRUE(FailsWith(CreateDirectory(Path("loop/x"), Parents::kCreate, Symlinks::kFollow, kNothingGuarded),
                        ErrorKind::kSystem, "symbolic links"));
}

TEST_P(CreateDirectoryTest, TakesEveryNameTheKernelTakes) {
  for (const std::string& name : {std::string("two\nlines"), std::string(255, 'n'), std::string("\xff\xfe")}) {
    for (const Symlinks symlinks : kBoth) {
      EXPECT_TRUE(
          Succeeds(CreateDirectory(Path(name) + "//" + name + "/", Parents::kCreate, symlinks, kNothingGuarded)));
      EXPECT_EQ(NamesIn(Path(name)), std::vector<std::string>{name});
      std::filesystem::remove_all(Path(name));
    }
  }
  for (const Symlinks symlinks : kBoth) {
    EXPECT_TRUE(FailsWith(CreateDirectory(Path(std::string(256, 'n')), Parents::kCreate, symlinks, kNothingGuarded),
                          ErrorKind::kSystem, "too long"));
    EXPECT_TRUE(FailsWith(CreateDirectory("", Parents::kCreate, symlinks, kNothingGuarded), ErrorKind::kNotFound, ""));
  }
}

TEST_P(CreateDirectoryTest, ReportsWhatIsDeniedAndWhere) {
  const std::string closed = MakeDirectory("closed", 0555);
  const AsOrdinaryUser ordinary;
  for (const Symlinks symlinks : kBoth) {
    EXPECT_TRUE(FailsWith(CreateDirectory(closed + "/a/b", Parents::kCreate, symlinks, kNothingGuarded),
                          ErrorKind::kPermissionDenied, "mkdir " + closed + "/a: "));
    EXPECT_TRUE(FailsWith(CreateDirectory(closed + "/a", Parents::kMustExist, symlinks, kNothingGuarded),
                          ErrorKind::kPermissionDenied, closed));
  }
}

TEST_P(CreateDirectoryTest, DoesNotMindThatSomebodyIsFaster) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = Path("r" + std::to_string(round)) + "/a/b/c/d";
    std::barrier start(2);
    auto create = [&](Symlinks symlinks) {
      start.arrive_and_wait();
      EXPECT_TRUE(Succeeds(CreateDirectory(path, Parents::kCreate, symlinks, kNothingGuarded)));
    };
    std::thread other(create, Symlinks::kRefuse);
    create(Symlinks::kFollow);
    other.join();
  }
}

TEST_P(CreateDirectoryTest, StaysInsideWhileADirectoryIsSwappedForALink) {
  const std::string inside = MakeDirectory("inside"), outside = MakeDirectory("outside");
  const std::string link = MakeLink("link", outside);
  {
    const Swapping swapping(inside, link);
    for (int i = 0; i < 500; ++i) {
      const std::string path = inside + "/" + std::to_string(i);
      (void)CreateDirectory(path + "/x", Parents::kCreate, Symlinks::kRefuse,
                            kNothingGuarded);  // refused whenever it is a link
      (void)CreateDirectory(path + "y", Parents::kMustExist, Symlinks::kRefuse, kNothingGuarded);
    }
  }
  EXPECT_TRUE(NamesIn(outside).empty());
}

TEST_P(CreateDirectoryTest, LeaksNoDescriptor) {
  MakeFile("file");
  const size_t before = support::CountFds(::getpid());
  for (const Symlinks symlinks : kBoth) {
    for (const char* name : {"a/b/c", "a/b/c", "file/x", "file"}) {
      for (const Parents parents : kBothParents) (void)CreateDirectory(Path(name), parents, symlinks, kNothingGuarded);
    }
  }
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

class ReadDirectoryTest : public StorageTest {
 protected:
  static std::vector<DirectoryEntry> Sorted(Result<std::vector<DirectoryEntry>> entries) {
    EXPECT_TRUE(Succeeds(entries));
    if (!entries) return {};
    std::ranges::sort(*entries, {}, &DirectoryEntry::name);
    return *std::move(entries);
  }
};
HOLDFAST_ON_EACH_STORAGE(ReadDirectoryTest);

TEST_P(ReadDirectoryTest, TellsFilesFromDirectoriesThroughLinks) {
  const std::string folder = MakeDirectory("folder");
  MakeFile("folder/.hidden");
  MakeFile("folder/file");
  MakeDirectory("folder/sub");
  MakeFifo("folder/fifo");
  MakeLink("folder/to_fifo", "fifo");
  MakeLink("folder/to_file", "file");
  MakeLink("folder/to_link", "to_file");
  MakeLink("folder/to_sub", "sub");
  const std::vector<DirectoryEntry> expected = {
      {".hidden", false, true},  {"fifo", false, false},   {"file", false, true},    {"sub", true, false},
      {"to_fifo", false, false}, {"to_file", false, true}, {"to_link", false, true}, {"to_sub", true, false},
  };
  EXPECT_EQ(Sorted(ReadDirectory(folder, 100)), expected);
  EXPECT_EQ(Sorted(ReadDirectory(MakeLink("link", folder), 100)), expected);
}

TEST_P(ReadDirectoryTest, LeavesOutLinksThatLeadNowhere) {
  const std::string folder = MakeDirectory("folder");
  MakeLink("folder/dangling", "nowhere");
  MakeLink("folder/loop", "loop");
  MakeFile("file");
  MakeLink("folder/through_a_file", "../file/x");
  EXPECT_TRUE(Sorted(ReadDirectory(folder, 100)).empty());
}

TEST_P(ReadDirectoryTest, LeavesOutLinksThatMayNotBeFollowed) {
  const std::string folder = MakeDirectory("folder");
  MakeDirectory("closed");
  MakeFile("closed/file");
  MakeLink("folder/link", "../closed/file");
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0), 0);
  {
    const AsOrdinaryUser ordinary;
    EXPECT_TRUE(Sorted(ReadDirectory(folder, 100)).empty());
  }
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0700), 0);
}

TEST_P(ReadDirectoryTest, GivesNamesAsTheyAre) {
  const std::string folder = MakeDirectory("folder");
  std::vector<std::string> names = {"two\nlines", " a b ", std::string(255, 'n'), "\xff\xfe\x80", "...", "\x01"};
  for (const std::string& name : names) MakeFile("folder/" + name);
  std::ranges::sort(names);
  std::vector<std::string> seen;
  for (const DirectoryEntry& entry : Sorted(ReadDirectory(folder, 100))) seen.push_back(entry.name);
  EXPECT_EQ(seen, names);
}

TEST_P(ReadDirectoryTest, ListsExactlyAsManyAsItMay) {
  const std::string folder = MakeDirectory("folder");
  EXPECT_TRUE(Sorted(ReadDirectory(folder, 0)).empty());
  for (const char* name : {"a", "b", "c"}) MakeFile(std::string("folder/") + name);
  EXPECT_EQ(Sorted(ReadDirectory(folder, 3)).size(), 3u);
  EXPECT_TRUE(FailsWith(ReadDirectory(folder, 2), ErrorKind::kSystem, "directory " + folder + ": more than 2 entries"));
}

TEST_P(ReadDirectoryTest, ReportsWhatIsNoDirectory) {
  for (const std::string& path : {MakeFile("file"), MakeFifo("fifo"), MakeSocket("socket"), std::string("/dev/null")}) {
    EXPECT_TRUE(FailsWith(ReadDirectory(path, 10), ErrorKind::kSystem, path + ": Not a directory"));
  }
  EXPECT_TRUE(FailsWith(ReadDirectory(Path("missing"), 10), ErrorKind::kNotFound, Path("missing")));
  EXPECT_TRUE(FailsWith(ReadDirectory(MakeLink("dangling", "no"), 10), ErrorKind::kNotFound, Path("dangling")));
  EXPECT_TRUE(FailsWith(ReadDirectory(MakeLink("loop", "loop"), 10), ErrorKind::kSystem, "symbolic links"));
}

TEST_P(ReadDirectoryTest, ReportsWhatIsDenied) {
  const std::string path = MakeDirectory("closed", 0300);
  {
    const AsOrdinaryUser ordinary;
    EXPECT_TRUE(FailsWith(ReadDirectory(path, 10), ErrorKind::kPermissionDenied, path));
  }
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
}

class HugeDirectoryTest : public StorageTest {};
// The test runs in memory only, because making the directory takes seconds on a disk.
INSTANTIATE_TEST_SUITE_P(Storage, HugeDirectoryTest, testing::Values("/dev/shm"));

TEST_P(HugeDirectoryTest, IsListedWholeOrNotAtAll) {
  constexpr size_t kNames = 100'000;
  const std::string folder = MakeDirectory("folder");
  const OwnedFd directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  MakeFile("folder/0");
  for (size_t i = 1; i < kNames; ++i) {
    ASSERT_EQ(::linkat(directory.get(), "0", directory.get(), std::to_string(i).c_str(), 0), 0);
  }
  const auto all = ReadDirectory(folder, kNames);
  ASSERT_TRUE(Succeeds(all));
  std::vector<bool> seen(kNames);
  for (const DirectoryEntry& entry : *all) {
    EXPECT_TRUE(entry.is_file);
    seen.at(std::stoul(entry.name)) = true;
  }
  EXPECT_EQ(std::ranges::count(seen, true), kNames);
  EXPECT_TRUE(FailsWith(ReadDirectory(folder, 50'000), ErrorKind::kSystem, "more than 50000 entries"));
}

}  // namespace
}  // namespace holdfast::files
