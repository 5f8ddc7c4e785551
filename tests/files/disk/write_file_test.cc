#include "files/disk/write_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "files/disk/adversity.h"
#include "files/disk/storage_fixture.h"
#include "support/proc.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

constexpr Replacement kBothWays[] = {Replacement::kInPlace, Replacement::kAtomic};

std::string DigestOf(std::string_view text) {
  Sha256 sha;
  sha.Update(Bytes(text));
  return sha.HexDigest();
}

Result<> Write(const std::string& path, std::string_view text, Replacement replacement,
               Symlinks symlinks = Symlinks::kFollow) {
  return WriteFile(path, Bytes(text), {.symlinks = symlinks, .replacement = replacement, .expected_sha256 = {}},
                   kNothingGuarded);
}

Result<> WriteExpecting(const std::string& path, std::string_view text, Replacement replacement,
                        const std::string& digest) {
  return WriteFile(path, Bytes(text),
                   {.symlinks = Symlinks::kFollow, .replacement = replacement, .expected_sha256 = digest},
                   kNothingGuarded);
}

class WriteFileTest : public StorageTest {};
HOLDFAST_ON_EACH_STORAGE(WriteFileTest);

TEST_P(WriteFileTest, ReplacesTheWholeContent) {
  const std::string path = Path("file");
  for (const Replacement way : kBothWays) {
    for (const size_t size : {5u, 100'000u, 20u, 0u, 1u, 0u}) {
      const std::string text(size, static_cast<char>('a' + size % 26));
      EXPECT_TRUE(Succeeds(Write(path, text, way)));
      EXPECT_EQ(ReadAll(path), text);
    }
  }
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"file"});
}

TEST_P(WriteFileTest, CreatesWithTheModeLessTheUmask) {
  for (const Replacement way : kBothWays) {
    const std::string path = Path(way == Replacement::kAtomic ? "atomic" : "in_place");
    EXPECT_TRUE(Succeeds(Write(path, "text", way)));
    EXPECT_EQ(PermissionsOf(path), 0644u);
  }
}

TEST_P(WriteFileTest, KeepsTheMode) {
  for (const Replacement way : kBothWays) {
    for (const mode_t mode : {0600u, 0755u, 0666u, 0200u}) {
      const std::string path = MakeFile("file", "old", mode);
      EXPECT_TRUE(Succeeds(Write(path, "new", way)));
      EXPECT_EQ(PermissionsOf(path), mode);
      ::unlink(path.c_str());
    }
  }
}

TEST_P(WriteFileTest, KeepsHardLinksOnlyInPlace) {
  const std::string path = MakeFile("file", "old"), other = Path("other");
  ASSERT_EQ(::link(path.c_str(), other.c_str()), 0);
  EXPECT_TRUE(Succeeds(Write(path, "longer than old", Replacement::kInPlace)));
  EXPECT_EQ(ReadAll(other), "longer than old");
  EXPECT_TRUE(Succeeds(Write(path, "new", Replacement::kAtomic)));
  EXPECT_EQ(ReadAll(path), "new");
  EXPECT_EQ(ReadAll(other), "longer than old");
}

TEST_P(WriteFileTest, DoesNotMakeParents) {
  for (const Replacement way : kBothWays) {
    EXPECT_TRUE(FailsWith(Write(Path("no/parent"), "", way), ErrorKind::kNotFound, Path("no/parent")));
    MakeFile("file");
    EXPECT_TRUE(FailsWith(Write(Path("file/x"), "", way), ErrorKind::kSystem, "Not a directory"));
  }
}

TEST_P(WriteFileTest, RefusesADirectory) {
  const std::string path = MakeDirectory("folder");
  for (const Replacement way : kBothWays) {
    EXPECT_TRUE(FailsWith(Write(path, "x", way), ErrorKind::kSystem, path + ": Is a directory"));
    EXPECT_TRUE(FailsWith(Write(path + "/", "x", way), ErrorKind::kSystem, "Is a directory"));
    EXPECT_TRUE(FailsWith(Write(path, "x", way, Symlinks::kRefuse), ErrorKind::kSystem, "Is a directory"));
    EXPECT_TRUE(FailsWith(Write("/", "x", way), ErrorKind::kSystem, "Is a directory"));
  }
  EXPECT_TRUE(NamesIn(path).empty());
}

TEST_P(WriteFileTest, RefusesSpecialFilesWithoutBlocking) {
  for (const std::string& path : {MakeFifo("fifo"), MakeSocket("socket")}) {
    const mode_t before = StatOf(path).st_mode;
    for (const Replacement way : kBothWays) {
      for (const Symlinks symlinks : {Symlinks::kFollow, Symlinks::kRefuse}) {
        EXPECT_TRUE(FailsWith(Write(path, "x", way, symlinks), ErrorKind::kInvalidRequest, "not a regular file"));
      }
      EXPECT_TRUE(FailsWith(WriteExpecting(path, "x", way, DigestOf("")), ErrorKind::kInvalidRequest, "not a regular"));
      EXPECT_EQ(StatOf(path).st_mode, before);
    }
  }
  EXPECT_EQ(NamesIn(Path()), (std::vector<std::string>{"fifo", "socket"}));
}

TEST_P(WriteFileTest, FollowsALinkToItsTarget) {
  MakeDirectory("folder");
  MakeFile("folder/file", "old");
  MakeLink("to_link", "folder/relative");
  MakeLink("folder/relative", "../folder/file");
  MakeLink("absolute", Path("to_link"));
  for (const Replacement way : kBothWays) {
    for (const char* name : {"to_link", "folder/relative", "absolute"}) {
      EXPECT_TRUE(Succeeds(Write(Path(name), name, way)));
      EXPECT_EQ(ReadAll(Path("folder/file")), name);
      EXPECT_TRUE(S_ISLNK(StatOf(Path(name)).st_mode));
    }
  }
}

TEST_P(WriteFileTest, RefusesALinkAnywhereWhenTold) {
  MakeDirectory("folder");
  MakeFile("folder/file", "old");
  const std::string at_end = MakeLink("at_end", "folder/file");
  const std::string on_the_way = MakeLink("on_the_way", "folder") + "/file";
  const std::string dangling = MakeLink("dangling", "nowhere");
  for (const Replacement way : kBothWays) {
    for (const std::string& path : {at_end, on_the_way, dangling}) {
      EXPECT_TRUE(FailsWith(Write(path, "new", way, Symlinks::kRefuse), ErrorKind::kSystem, "symbolic links"));
    }
    EXPECT_TRUE(Succeeds(Write(Path("folder/file"), "old", way, Symlinks::kRefuse)));
  }
  EXPECT_EQ(ReadAll(Path("folder/file")), "old");
  EXPECT_EQ(NamesIn(Path()), (std::vector<std::string>{"at_end", "dangling", "folder", "on_the_way"}));
}

TEST_P(WriteFileTest, CreatesWhatADanglingLinkPointsAt) {
  for (const Replacement way : kBothWays) {
    MakeLink("first", "second");
    MakeLink("second", "target");
    EXPECT_TRUE(Succeeds(Write(Path("first"), "text", way)));
    EXPECT_EQ(ReadAll(Path("target")), "text");
    for (const char* name : {"first", "second", "target"}) ::unlink(Path(name).c_str());
  }
}

TEST_P(WriteFileTest, FailsOnALoopOfLinks) {
  MakeLink("a", "b");
  MakeLink("b", "a");
  for (const Replacement way : kBothWays) {
    EXPECT_TRUE(FailsWith(Write(Path("a"), "x", way), ErrorKind::kSystem, "symbolic links"));
  }
}

TEST_P(WriteFileTest, TakesEveryNameTheKernelTakes) {
  for (const std::string& name :
       {std::string("two\nlines"), std::string(" a b "), std::string(255, 'n'), std::string("\xff\xfe")}) {
    for (const Replacement way : kBothWays) {
      EXPECT_TRUE(Succeeds(Write(Path(name), name, way)));
      EXPECT_EQ(ReadAll(Path(name)), name);
    }
  }
  for (const Replacement way : kBothWays) {
    EXPECT_TRUE(FailsWith(Write(Path(std::string(256, 'n')), "", way), ErrorKind::kSystem, "too long"));
  }
}

TEST_P(WriteFileTest, WritesOnlyOverTheExpectedContent) {
  const std::string path = MakeFile("file", "old");
  for (const Replacement way : kBothWays) {
    const auto wrong = WriteExpecting(path, "new", way, DigestOf("other"));
    EXPECT_TRUE(FailsWith(wrong, ErrorKind::kInvalidRequest, "sha256 is " + DigestOf("old").substr(0, 12)));
    EXPECT_TRUE(FailsWith(wrong, ErrorKind::kInvalidRequest, "expected " + DigestOf("other").substr(0, 12)));
    EXPECT_EQ(ReadAll(path), "old");
    EXPECT_TRUE(Succeeds(WriteExpecting(path, "new", way, DigestOf("old"))));
    EXPECT_EQ(ReadAll(path), "new");
    EXPECT_TRUE(Succeeds(WriteExpecting(path, "old", way, DigestOf("new"))));
  }
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"file"});
}

TEST_P(WriteFileTest, ComparesContentOfAnySize) {
  for (const size_t size : {0u, (128u << 10) - 1, 128u << 10, (256u << 10) + 1}) {
    const std::string old(size, 'o');
    for (const Replacement way : kBothWays) {
      MakeFile("file", old);
      EXPECT_TRUE(Succeeds(WriteExpecting(Path("file"), "new", way, DigestOf(old))));
    }
  }
}

TEST_P(WriteFileTest, ExpectsNothingOfAMissingFile) {
  MakeLink("dangling", "nowhere");
  for (const Replacement way : kBothWays) {
    for (const char* name : {"missing", "no/parent", "dangling"}) {
      EXPECT_TRUE(FailsWith(WriteExpecting(Path(name), "new", way, DigestOf("")), ErrorKind::kInvalidRequest,
                            Path(name) + ": does not exist"));
    }
  }
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"dangling"});
}

TEST_P(WriteFileTest, ReportsWhatIsDenied) {
  const std::string read_only = MakeFile("read_only", "old", 0444), closed = MakeDirectory("closed", 0500);
  const std::string unreadable = MakeFile("unreadable", "old", 0222);
  const AsOrdinaryUser ordinary;
  for (const Replacement way : kBothWays) {
    EXPECT_TRUE(FailsWith(Write(read_only, "new", way), ErrorKind::kPermissionDenied, read_only));
    EXPECT_TRUE(FailsWith(Write(closed + "/new", "new", way), ErrorKind::kPermissionDenied, closed));
    EXPECT_TRUE(
        FailsWith(WriteExpecting(unreadable, "new", way, DigestOf("old")), ErrorKind::kPermissionDenied, unreadable));
  }
  EXPECT_EQ(ReadAll(read_only), "old");
}

TEST_P(WriteFileTest, LeavesWhatWasWrittenWhenItFailsInPlace) {
  const std::string path = MakeFile("file", std::string(4'000, 'o'));
  const std::string text(10'000, 'n');
  {
    const FileSizeLimit limit(6'000);
    EXPECT_TRUE(FailsWith(Write(path, text, Replacement::kInPlace), ErrorKind::kSystem, "File too large"));
  }
  EXPECT_EQ(ReadAll(path), text.substr(0, 6'000));
}

TEST_P(WriteFileTest, LeavesNothingOfTheOldContentWhenItFailsInPlace) {
  const std::string path = MakeFile("file", std::string(8'000, 'o'));
  const std::string text(10'000, 'n');
  {
    const FileSizeLimit limit(5'000);
    EXPECT_FALSE(Write(path, text, Replacement::kInPlace));
  }
  EXPECT_EQ(ReadAll(path), text.substr(0, 5'000));
}

TEST_P(WriteFileTest, LeavesTheOldFileWhenItFailsAtomically) {
  const std::string path = MakeFile("file", "old");
  {
    const FileSizeLimit limit(6'000);
    const std::string text(10'000, 'n');
    EXPECT_TRUE(FailsWith(Write(path, text, Replacement::kAtomic), ErrorKind::kSystem, path + ": File too large"));
  }
  EXPECT_EQ(ReadAll(path), "old");
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"file"});
}

TEST(WriteFileRoomTest, LeavesTheOldFileOrWhatWasWrittenWhenTheRoomIsUsedUp) {
  const support::SmallTmpfs tmpfs(64u << 10);
  if (!tmpfs.why_not().empty()) GTEST_SKIP() << tmpfs.why_not();
  const std::string path = tmpfs.path() + "/file", text(1u << 20, 'n');
  ASSERT_TRUE(Succeeds(Write(path, "old", Replacement::kAtomic)));
  EXPECT_TRUE(FailsWith(Write(path, text, Replacement::kAtomic), ErrorKind::kSystem, "No space left"));
  EXPECT_EQ(ReadAll(path), "old");
  EXPECT_EQ(NamesIn(tmpfs.path()), std::vector<std::string>{"file"});
  EXPECT_TRUE(FailsWith(Write(path, text, Replacement::kInPlace), ErrorKind::kSystem, "No space left"));
  EXPECT_EQ(ReadAll(path), text.substr(0, 64u << 10));
}

TEST_P(WriteFileTest, StaysInsideWhileADirectoryIsSwappedForALink) {
  const std::string inside = MakeDirectory("inside"), outside = MakeDirectory("outside");
  const std::string link = MakeLink("link", outside);
  {
    const Swapping swapping(inside, link);
    for (int i = 0; i < 500; ++i) {
      (void)Write(inside + "/file", "text", kBothWays[i % 2], Symlinks::kRefuse);  // fails while `inside` is a link
    }
  }
  EXPECT_TRUE(NamesIn(outside).empty());
}

TEST_P(WriteFileTest, LeaksNoDescriptor) {
  const std::string path = MakeFile("file", "old");
  const size_t before = support::CountFds(::getpid());
  for (const Replacement way : kBothWays) {
    (void)Write(path, "new", way);
    (void)Write(Path(), "new", way);
    (void)WriteExpecting(path, "new", way, "wrong");
    (void)WriteExpecting(path, "new", way, DigestOf("new"));
  }
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

}  // namespace
}  // namespace holdfast::files
