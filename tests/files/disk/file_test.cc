#include "files/disk/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/storage_fixture.h"
#include "support/proc.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

constexpr Symlinks kBoth[] = {Symlinks::kFollow, Symlinks::kRefuse};

class FileTest : public StorageTest {};
HOLDFAST_ON_EACH_STORAGE(FileTest);

std::string ReadFrom(const File& file, uint64_t offset, size_t max_bytes) {
  std::string text(max_bytes, '\0');
  auto n = file.ReadAt(offset, std::as_writable_bytes(std::span(text)));
  EXPECT_TRUE(Succeeds(n));
  text.resize(n.value_or(0));
  return text;
}

TEST_P(FileTest, ReadsFromAnyOffset) {
  const std::string path = MakeFile("file", "0123456789");
  for (const Symlinks symlinks : kBoth) {
    auto file = File::OpenForReading(path, symlinks);
    ASSERT_TRUE(Succeeds(file));
    EXPECT_EQ(file->size(), 10u);
    EXPECT_EQ(ReadFrom(*file, 0, 10), "0123456789");
    EXPECT_EQ(ReadFrom(*file, 3, 4), "3456");
    EXPECT_EQ(ReadFrom(*file, 8, 100), "89");
    EXPECT_EQ(ReadFrom(*file, 10, 1), "");
    EXPECT_EQ(ReadFrom(*file, 1u << 20, 1), "");
    EXPECT_EQ(ReadFrom(*file, 0, 0), "");
  }
}

TEST_P(FileTest, TakesAnyOffsetThatAFileCouldHave) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  auto file = File::OpenForUpdate(MakeFile("file", "abc"), Symlinks::kFollow, kNothingGuarded);
  ASSERT_TRUE(Succeeds(file));
  EXPECT_EQ(ReadFrom(*file, kMax, 10), "");
  EXPECT_EQ(ReadFrom(*file, kMax - 5, 10), "");
  std::array<std::byte, 10> buffer = {};
  EXPECT_TRUE(FailsWith(file->ReadAt(kMax + 1, buffer), ErrorKind::kInvalidRequest, "beyond any file"));
  EXPECT_TRUE(FailsWith(file->WriteAt(kMax + 1, buffer), ErrorKind::kInvalidRequest, "beyond any file"));
  EXPECT_TRUE(FailsWith(file->WriteAt(kMax - 5, buffer), ErrorKind::kInvalidRequest, "beyond any file"));
  EXPECT_TRUE(FailsWith(file->Truncate(kMax + 1), ErrorKind::kInvalidRequest, "beyond any file"));
  EXPECT_EQ(ReadAll(Path("file")), "abc");
}

TEST_P(FileTest, WritesAtAnyOffsetAndKeepsTheRest) {
  auto file = File::OpenForWriting(MakeFile("file", "0123456789"), Symlinks::kRefuse, kNothingGuarded);
  ASSERT_TRUE(Succeeds(file));
  size_t written = 0;
  EXPECT_TRUE(Succeeds(file->WriteAt(2, Bytes("ab"), &written)));
  EXPECT_EQ(written, 2u);
  EXPECT_TRUE(Succeeds(file->WriteAt(12, Bytes("z"))));
  EXPECT_EQ(ReadAll(Path("file")), std::string("01ab456789\0\0z", 13));
  EXPECT_TRUE(Succeeds(file->Truncate(3)));
  EXPECT_TRUE(Succeeds(file->Close()));
  EXPECT_EQ(ReadAll(Path("file")), "01a");
}

TEST_P(FileTest, CreatesWithTheModeLessTheUmask) {
  for (const Symlinks symlinks : kBoth) {
    const std::string path = Path(symlinks == Symlinks::kFollow ? "follow" : "refuse");
    EXPECT_TRUE(Succeeds(File::OpenForWriting(path, symlinks, kNothingGuarded)));
    EXPECT_EQ(PermissionsOf(path), 0644u);
  }
}

TEST_P(FileTest, CreatesWithTheModeThatIsAskedFor) {
  EXPECT_TRUE(Succeeds(File::OpenForWriting(Path("file"), Symlinks::kFollow, kNothingGuarded, 0770)));
  EXPECT_EQ(PermissionsOf(Path("file")), 0750u);
}

TEST_P(FileTest, SetsTheTimeOfTheLastChange) {
  auto file = File::OpenForWriting(Path("file"), Symlinks::kFollow, kNothingGuarded);
  ASSERT_TRUE(Succeeds(file));
  EXPECT_TRUE(Succeeds(file->SetModifiedAt(1'234'567'890'123)));
  EXPECT_EQ(StatOf(Path("file")).st_mtim.tv_sec, 1'234'567'890);
  EXPECT_EQ(StatOf(Path("file")).st_mtim.tv_nsec, 123'000'000);
}

TEST_P(FileTest, KeepsTheModeAndContentOfWhatIsThere) {
  const std::string path = MakeFile("file", "text", 0600);
  EXPECT_TRUE(Succeeds(File::OpenForWriting(path, Symlinks::kFollow, kNothingGuarded)));
  EXPECT_EQ(PermissionsOf(path), 0600u);
  EXPECT_EQ(ReadAll(path), "text");
}

TEST_P(FileTest, CreatesOnlyForWriting) {
  for (const Symlinks symlinks : kBoth) {
    EXPECT_TRUE(FailsWith(File::OpenForReading(Path("missing"), symlinks), ErrorKind::kNotFound, Path("missing")));
    EXPECT_TRUE(FailsWith(File::OpenForUpdate(Path("missing"), symlinks, kNothingGuarded), ErrorKind::kNotFound,
                          Path("missing")));
    EXPECT_TRUE(FailsWith(File::OpenForWriting(Path("no/parent"), symlinks, kNothingGuarded), ErrorKind::kNotFound,
                          Path("no/parent")));
  }
  EXPECT_TRUE(NamesIn(Path()).empty());
}

TEST_P(FileTest, RefusesADirectory) {
  const std::string path = MakeDirectory("folder");
  for (const Symlinks symlinks : kBoth) {
    EXPECT_TRUE(
        FailsWith(File::OpenForReading(path, symlinks), ErrorKind::kInvalidRequest, path + ": not a regular file"));
    EXPECT_TRUE(FailsWith(File::OpenForWriting(path, symlinks, kNothingGuarded), ErrorKind::kSystem,
                          path + ": Is a directory"));
    EXPECT_TRUE(
        FailsWith(File::OpenForUpdate(path, symlinks, kNothingGuarded), ErrorKind::kSystem, path + ": Is a directory"));
  }
}

// No process has the other end of the FIFO, so an open that blocks would wait for ever.
TEST_P(FileTest, RefusesSpecialFilesWithoutBlocking) {
  for (const std::string& path : {MakeFifo("fifo"), MakeSocket("socket"), std::string("/dev/zero")}) {
    for (const Symlinks symlinks : kBoth) {
      EXPECT_TRUE(FailsWith(File::OpenForReading(path, symlinks), ErrorKind::kInvalidRequest, "not a regular file"));
      EXPECT_TRUE(FailsWith(File::OpenForWriting(path, symlinks, kNothingGuarded), ErrorKind::kInvalidRequest,
                            "not a regular file"));
      EXPECT_TRUE(FailsWith(File::OpenForUpdate(path, symlinks, kNothingGuarded), ErrorKind::kInvalidRequest,
                            "not a regular file"));
    }
  }
}

TEST_P(FileTest, DoesNotWakeTheOtherEndOfAFifo) {
  const std::string path = MakeFifo("fifo");
  const OwnedFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_FALSE(File::OpenForWriting(path, Symlinks::kFollow, kNothingGuarded));
  char c;
  EXPECT_EQ(::read(reader.get(), &c, 1), 0);
}

TEST_P(FileTest, StaysWithRegularFilesWhileTheNameChangesItsMeaning) {
  const std::string path = MakeFile("file", "text"), fifo = MakeFifo("fifo");
  const Swapping swapping(path, fifo);
  for (int i = 0; i < 3000; ++i) {
    auto file = File::OpenForReading(path, kBoth[i % 2]);
    if (!file) continue;
    struct stat status;
    ASSERT_EQ(::fstat(file->fd(), &status), 0);
    ASSERT_TRUE(S_ISREG(status.st_mode));
  }
}

TEST_P(FileTest, FollowsALinkOrRefusesIt) {
  MakeDirectory("folder");
  const std::string file = MakeFile("folder/file", "text");
  const std::string at_end = MakeLink("at_end", file);
  const std::string on_the_way = MakeLink("on_the_way", "folder") + "/file";
  for (const std::string& path : {at_end, on_the_way}) {
    EXPECT_TRUE(Succeeds(File::OpenForReading(path, Symlinks::kFollow)));
    EXPECT_TRUE(Succeeds(File::OpenForWriting(path, Symlinks::kFollow, kNothingGuarded)));
    EXPECT_TRUE(FailsWith(File::OpenForReading(path, Symlinks::kRefuse), ErrorKind::kSystem, "symbolic links"));
    EXPECT_TRUE(FailsWith(File::OpenForWriting(path, Symlinks::kRefuse, kNothingGuarded), ErrorKind::kSystem,
                          "symbolic links"));
    EXPECT_TRUE(
        FailsWith(File::OpenForUpdate(path, Symlinks::kRefuse, kNothingGuarded), ErrorKind::kSystem, "symbolic links"));
  }
}

TEST_P(FileTest, CreatesWhatADanglingLinkPointsAt) {
  const std::string link = MakeLink("link", "target");
  EXPECT_TRUE(
      FailsWith(File::OpenForWriting(link, Symlinks::kRefuse, kNothingGuarded), ErrorKind::kSystem, "symbolic links"));
  EXPECT_EQ(NamesIn(Path()), std::vector<std::string>{"link"});
  EXPECT_TRUE(FailsWith(File::OpenForReading(link, Symlinks::kFollow), ErrorKind::kNotFound, link));
  EXPECT_TRUE(Succeeds(File::OpenForWriting(link, Symlinks::kFollow, kNothingGuarded)));
  EXPECT_TRUE(S_ISREG(StatOf(Path("target")).st_mode));
}

TEST_P(FileTest, FailsOnALoopOfLinks) {
  MakeLink("a", "b");
  MakeLink("b", "a");
  EXPECT_TRUE(FailsWith(File::OpenForReading(Path("a"), Symlinks::kFollow), ErrorKind::kSystem, "symbolic links"));
  EXPECT_TRUE(FailsWith(File::OpenForWriting(Path("a"), Symlinks::kFollow, kNothingGuarded), ErrorKind::kSystem,
                        "symbolic links"));
}

TEST_P(FileTest, TellsAFileOnTheWayFromAMissingOne) {
  MakeFile("file");
  EXPECT_TRUE(
      FailsWith(File::OpenForReading(Path("file/x"), Symlinks::kFollow), ErrorKind::kSystem, "Not a directory"));
  EXPECT_TRUE(FailsWith(File::OpenForWriting(Path("file/x"), Symlinks::kRefuse, kNothingGuarded), ErrorKind::kSystem,
                        "Not a directory"));
}

TEST_P(FileTest, TakesEveryNameTheKernelTakes) {
  for (const std::string& name : {std::string("two\nlines"), std::string(" a b "), std::string(255, 'n'),
                                  std::string("\xff\xfe\x80"), std::string("-rf *")}) {
    for (const Symlinks symlinks : kBoth) {
      auto file = File::OpenForWriting(Path(name), symlinks, kNothingGuarded);
      ASSERT_TRUE(Succeeds(file));
      EXPECT_TRUE(Succeeds(file->WriteAt(0, Bytes(name))));
      EXPECT_EQ(ReadAll(Path(name)), name);
    }
  }
  EXPECT_TRUE(FailsWith(File::OpenForWriting(Path(std::string(256, 'n')), Symlinks::kFollow, kNothingGuarded),
                        ErrorKind::kSystem, "too long"));
}

TEST_P(FileTest, ReportsWhatIsDenied) {
  const std::string hidden = MakeFile("hidden", "secret", 0000), read_only = MakeFile("read_only", "", 0444);
  const AsOrdinaryUser ordinary;
  for (const Symlinks symlinks : kBoth) {
    EXPECT_TRUE(FailsWith(File::OpenForReading(hidden, symlinks), ErrorKind::kPermissionDenied, hidden));
    EXPECT_TRUE(
        FailsWith(File::OpenForWriting(read_only, symlinks, kNothingGuarded), ErrorKind::kPermissionDenied, read_only));
  }
}

TEST_P(FileTest, TellsHowFarAFailedWriteCame) {
  auto file = File::OpenForWriting(Path("file"), Symlinks::kFollow, kNothingGuarded);
  ASSERT_TRUE(Succeeds(file));
  const std::string text(10'000, 'x');
  size_t written = 0;
  const FileSizeLimit limit(6'000);
  EXPECT_TRUE(FailsWith(file->WriteAt(1'000, Bytes(text), &written), ErrorKind::kSystem, "File too large"));
  EXPECT_EQ(written, 5'000u);
}

TEST(FileRoomTest, TellsHowFarItCameWhenTheRoomIsUsedUp) {
  const support::SmallTmpfs tmpfs(64u << 10);
  if (!tmpfs.why_not().empty()) GTEST_SKIP() << tmpfs.why_not();
  auto file = File::OpenForWriting(tmpfs.path() + "/file", Symlinks::kRefuse, kNothingGuarded);
  ASSERT_TRUE(Succeeds(file));
  size_t written = 0;
  EXPECT_TRUE(
      FailsWith(file->WriteAt(0, Bytes(std::string(1u << 20, 'x')), &written), ErrorKind::kSystem, "No space left"));
  EXPECT_EQ(written, 64u << 10);
}

TEST_P(FileTest, CreatesInADirectoryOnlyWhatIsNew) {
  auto directory = sys::OpenAt(AT_FDCWD, Path(), O_PATH | O_DIRECTORY, sys::Links::kNone);
  ASSERT_TRUE(directory);
  EXPECT_TRUE(Succeeds(File::CreateAt(directory->get(), "new", 0600, "/p")));
  EXPECT_EQ(PermissionsOf(Path("new")), 0600u);
  EXPECT_TRUE(FailsWith(File::CreateAt(directory->get(), "new", 0600, "/p"), ErrorKind::kSystem, "/p: File exists"));
  MakeLink("link", "target");
  EXPECT_FALSE(File::CreateAt(directory->get(), "link", 0600, "/p"));
  EXPECT_FALSE(File::OpenForReadingAt(directory->get(), "link", "/p"));
  EXPECT_EQ(NamesIn(Path()), (std::vector<std::string>{"link", "new"}));
}

TEST_P(FileTest, ReadsFilesOfTheKernelThatSayNoSize) {
  auto file = File::OpenForReading("/proc/self/status", Symlinks::kFollow);
  ASSERT_TRUE(Succeeds(file));
  EXPECT_EQ(file->size(), 0u);
  EXPECT_TRUE(ReadFrom(*file, 0, 1u << 16).starts_with("Name:"));
}

TEST_P(FileTest, LeaksNoDescriptor) {
  const std::string file = MakeFile("file"), fifo = MakeFifo("fifo"), folder = MakeDirectory("folder");
  const size_t before = support::CountFds(::getpid());
  for (const std::string& path : {file, fifo, folder, Path("missing")}) {
    for (const Symlinks symlinks : kBoth) {
      (void)File::OpenForReading(path, symlinks);
      (void)File::OpenForUpdate(path, symlinks, kNothingGuarded);
      if (path != Path("missing")) (void)File::OpenForWriting(path, symlinks, kNothingGuarded);
    }
  }
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

}  // namespace
}  // namespace holdfast::files
