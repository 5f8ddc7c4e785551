#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/copy.h"
#include "files/disk/storage_fixture.h"
#include "files/disk/tree_fixture.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

constexpr Depth kBoth[] = {Depth::kSingle, Depth::kTree};

class CopyFileTest : public StorageTest {
 protected:
  static std::string Pattern(size_t size) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
    return text;
  }
};
HOLDFAST_ON_EACH_STORAGE(CopyFileTest);

TEST_P(CopyFileTest, CopiesContentAndMode) {
  const std::string content = Pattern(5'000'000);
  for (const mode_t mode : {0644, 0600, 0751, 0400, 0000, 0666}) {
    MakeFile("source", content, 0644);
    ASSERT_EQ(::chmod(Path("source").c_str(), mode), 0);
    if (::geteuid() == 0 || (mode & 0400) != 0) {
      EXPECT_TRUE(Succeeds(Copy(Path("source"), Path("copy"), Depth::kSingle, kNothingGuarded)));
      EXPECT_EQ(PermissionsOf(Path("copy")), mode);
      ASSERT_EQ(::chmod(Path("copy").c_str(), 0644), 0);
      EXPECT_TRUE(ReadAll(Path("copy")) == content);
    }
    ASSERT_EQ(::unlink(Path("source").c_str()), 0);
    ::unlink(Path("copy").c_str());
  }
}

TEST_P(CopyFileTest, CopiesAnEmptyFile) {
  MakeFile("source");
  EXPECT_TRUE(Succeeds(Copy(Path("source"), Path("copy"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(StatOf(Path("copy")).st_size, 0);
}

TEST_P(CopyFileTest, OverwritesTheFileThatIsThere) {
  MakeFile("source", "short", 0640);
  MakeFile("copy", Pattern(100'000), 0604);
  ASSERT_EQ(::link(Path("copy").c_str(), Path("same").c_str()), 0);
  for (const Depth depth : kBoth) EXPECT_TRUE(Succeeds(Copy(Path("source"), Path("copy"), depth, kNothingGuarded)));
  EXPECT_EQ(ReadAll(Path("copy")), "short");
  EXPECT_EQ(ReadAll(Path("same")), "short");
  EXPECT_EQ(PermissionsOf(Path("copy")), 0640u);
}

TEST_P(CopyFileTest, WritesThroughALinkAtTheDestination) {
  MakeFile("source", "text");
  MakeFile("real", "old and longer");
  MakeLink("link", "real");
  MakeLink("dangling", "not_yet");
  EXPECT_TRUE(Succeeds(Copy(Path("source"), Path("link"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(ReadAll(Path("real")), "text");
  EXPECT_TRUE(Succeeds(Copy(Path("source"), Path("dangling"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(ReadAll(Path("not_yet")), "text");
}

TEST_P(CopyFileTest, LosesNothingWhenAFileIsCopiedToItself) {
  MakeFile("source", "text", 0640);
  MakeLink("link", "source");
  ASSERT_EQ(::link(Path("source").c_str(), Path("same").c_str()), 0);
  for (const char* name : {"source", "link", "same"}) {
    EXPECT_TRUE(FailsWith(Copy(Path("source"), Path(name), Depth::kSingle, kNothingGuarded), ErrorKind::kInvalidRequest,
                          "itself"));
  }
  EXPECT_EQ(ReadAll(Path("source")), "text");
  EXPECT_EQ(PermissionsOf(Path("source")), 0640u);
}

TEST_P(CopyFileTest, RefusesADestinationThatIsNoFile) {
  MakeFile("source", "text");
  MakeDirectory("directory");
  MakeFifo("fifo");
  MakeSocket("socket");
  MakeLink("to_fifo", "fifo");
  for (const Depth depth : kBoth) {
    EXPECT_TRUE(FailsWith(Copy(Path("source"), Path("directory"), depth, kNothingGuarded), ErrorKind::kSystem,
                          "Is a directory"));
    for (const std::string& path : {Path("fifo"), Path("to_fifo"), Path("socket"), std::string("/dev/null")}) {
      EXPECT_TRUE(
          FailsWith(Copy(Path("source"), path, depth, kNothingGuarded), ErrorKind::kInvalidRequest, "regular file"))
          << path;
    }
  }
  const OwnedFd reader(::open(Path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_TRUE(FailsWith(Copy(Path("source"), Path("fifo"), Depth::kSingle, kNothingGuarded), ErrorKind::kInvalidRequest,
                        "regular file"));
}

TEST_P(CopyFileTest, RefusesASourceThatCannotBeCopied) {
  MakeFifo("fifo");
  MakeSocket("socket");
  for (const Depth depth : kBoth) {
    for (const std::string& path : {Path("fifo"), Path("socket"), std::string("/dev/null")}) {
      EXPECT_TRUE(FailsWith(Copy(path, Path("copy"), depth, kNothingGuarded), ErrorKind::kInvalidRequest, "neither"))
          << path;
    }
  }
  EXPECT_FALSE(Exists(Path("copy")));
}

TEST_P(CopyFileTest, SaysWhatIsMissing) {
  MakeFile("source", "text");
  EXPECT_TRUE(FailsWith(Copy(Path("missing"), Path("copy"), Depth::kTree, kNothingGuarded), ErrorKind::kNotFound,
                        Path("missing")));
  EXPECT_TRUE(
      FailsWith(Copy(Path("no/file"), Path("copy"), Depth::kTree, kNothingGuarded), ErrorKind::kNotFound, Path("no")));
  EXPECT_TRUE(FailsWith(Copy(Path("source"), Path("no/copy"), Depth::kTree, kNothingGuarded), ErrorKind::kNotFound,
                        Path("no/copy")));
  EXPECT_TRUE(FailsWith(Copy(Path("source/x"), Path("copy"), Depth::kTree, kNothingGuarded), ErrorKind::kSystem,
                        "Not a directory"));
  EXPECT_TRUE(FailsWith(Copy(Path("source"), Path("source/x"), Depth::kTree, kNothingGuarded), ErrorKind::kSystem,
                        "Not a directory"));
}

TEST_P(CopyFileTest, CopiesALinkAsALink) {
  MakeFile("file");
  const std::string text = "nowhere/\xff\n/" + std::string(3000, 'x');
  MakeLink("link", text);
  MakeLink("to_directory", "/");
  for (const Depth depth : kBoth) {
    EXPECT_TRUE(Succeeds(Copy(Path("link"), Path("copy"), depth, kNothingGuarded)));
    EXPECT_EQ(std::filesystem::read_symlink(Path("copy")).string(), text);
    EXPECT_TRUE(FailsWith(Copy(Path("link"), Path("copy"), depth, kNothingGuarded), ErrorKind::kSystem, "File exists"));
    EXPECT_TRUE(FailsWith(Copy(Path("link"), Path("file"), depth, kNothingGuarded), ErrorKind::kSystem, "File exists"));
    ASSERT_EQ(::unlink(Path("copy").c_str()), 0);
  }
  EXPECT_TRUE(Succeeds(Copy(Path("to_directory"), Path("copy"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(std::filesystem::read_symlink(Path("copy")).string(), "/");
}

TEST_P(CopyFileTest, CopiesBetweenFileSystems) {
  const std::string other = GetParam() == std::string("/tmp") ? "/dev/shm/" : "/tmp/";
  const std::string copy = other + std::filesystem::path(Path()).filename().string() + ".copy";
  MakeFile("source", Pattern(1'000'000), 0750);
  EXPECT_TRUE(Succeeds(Copy(Path("source"), copy, Depth::kSingle, kNothingGuarded)));
  EXPECT_TRUE(ReadAll(copy) == Pattern(1'000'000));
  EXPECT_EQ(PermissionsOf(copy), 0750u);
  ::unlink(copy.c_str());
}

TEST_P(CopyFileTest, CopiesFilesThatDoNotKnowTheirSize) {
  EXPECT_TRUE(Succeeds(Copy("/proc/version", Path("version"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(ReadAll(Path("version")), ReadAll("/proc/version"));
  EXPECT_NE(ReadAll(Path("version")), "");
  // The size of this file is given as one page, but it is shorter.
  const std::string uevent = "/sys/kernel/uevent_seqnum";
  if (!Exists(uevent)) GTEST_SKIP() << "no " << uevent;
  EXPECT_TRUE(Succeeds(Copy(uevent, Path("uevent"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(StatOf(Path("uevent")).st_size, static_cast<off_t>(ReadAll(uevent).size()));
}

TEST_P(CopyFileTest, KeepsHoles) {
  constexpr off_t kGibibyte = off_t{1} << 30;
  const std::string source = MakeFile("source");
  const OwnedFd file(::open(source.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 3 * kGibibyte), 0);
  ASSERT_EQ(::pwrite(file.get(), "middle", 6, kGibibyte), 6);
  ASSERT_EQ(::pwrite(file.get(), "later", 5, 2 * kGibibyte + 5000), 5);
  // The old content of the destination must not appear in the holes.
  MakeFile("copy", std::string(100'000, 'x'));

  EXPECT_TRUE(Succeeds(Copy(source, Path("copy"), Depth::kSingle, kNothingGuarded)));
  const struct stat status = StatOf(Path("copy"));
  EXPECT_EQ(status.st_size, 3 * kGibibyte);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
  const OwnedFd copy(::open(Path("copy").c_str(), O_RDONLY | O_CLOEXEC));
  char text[8] = {};
  EXPECT_EQ(::pread(copy.get(), text, 8, kGibibyte), 8);
  EXPECT_EQ(std::string(text, 8), std::string("middle\0\0", 8));
  EXPECT_EQ(::pread(copy.get(), text, 5, 2 * kGibibyte + 5000), 5);
  EXPECT_EQ(std::string(text, 5), "later");
  EXPECT_EQ(::pread(copy.get(), text, 8, 500), 8);
  EXPECT_EQ(std::string(text, 8), std::string(8, '\0'));
}

TEST_P(CopyFileTest, KeepsNobodyElsesSetIds) {
  MakeFile("mine", "text", 06755);
  EXPECT_TRUE(Succeeds(Copy(Path("mine"), Path("copy_of_mine"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(PermissionsOf(Path("copy_of_mine")), 06755u);

  if (::geteuid() != 0) GTEST_SKIP() << "to give a file away takes root";
  MakeFile("theirs", "text");
  ASSERT_EQ(::chown(Path("theirs").c_str(), AsOrdinaryUser::kNobody, AsOrdinaryUser::kNobody), 0);
  ASSERT_EQ(::chmod(Path("theirs").c_str(), 06755), 0);
  EXPECT_TRUE(Succeeds(Copy(Path("theirs"), Path("copy"), Depth::kSingle, kNothingGuarded)));
  EXPECT_EQ(PermissionsOf(Path("copy")), 0755u);
}

TEST_P(CopyFileTest, SaysWhatItMayNotRead) {
  const AsOrdinaryUser user;
  MakeFile("secret", "text", 0);
  EXPECT_TRUE(FailsWith(Copy(Path("secret"), Path("copy"), Depth::kSingle, kNothingGuarded),
                        ErrorKind::kPermissionDenied, Path("secret")));
  EXPECT_FALSE(Exists(Path("copy")));
  MakeFile("source", "text");
  EXPECT_TRUE(FailsWith(Copy(Path("source"), Path("secret"), Depth::kSingle, kNothingGuarded),
                        ErrorKind::kPermissionDenied, Path("secret")));
}

TEST_P(CopyFileTest, FailsWhenTheCopyMayNotGrow) {
  MakeFile("source", Pattern(1'000'000));
  const FileSizeLimit limit(300'000);
  EXPECT_TRUE(
      FailsWith(Copy(Path("source"), Path("copy"), Depth::kSingle, kNothingGuarded), ErrorKind::kSystem, "too large"));
}

TEST_P(CopyFileTest, FailsWhenThereIsNoRoom) {
  const support::SmallTmpfs small(256 << 10);
  if (!small.why_not().empty()) GTEST_SKIP() << small.why_not();
  MakeFile("source", Pattern(1'000'000));
  const std::string copy = small.path() + "/copy";
  EXPECT_TRUE(
      FailsWith(Copy(Path("source"), copy, Depth::kSingle, kNothingGuarded), ErrorKind::kSystem, "No space left"));
  // Within one file system the copy is made inside the kernel.
  const std::string half = small.path() + "/half";
  ASSERT_EQ(::unlink(copy.c_str()), 0);
  EXPECT_TRUE(Succeeds(Copy(MakeFile("small", Pattern(150'000)), half, Depth::kSingle, kNothingGuarded)));
  EXPECT_TRUE(FailsWith(Copy(half, copy, Depth::kSingle, kNothingGuarded), ErrorKind::kSystem, "No space left"));
}

// Even if another process replaces the source, the intended file is copied or nothing is.
TEST_P(CopyFileTest, FollowsNoLinkThatIsSwappedInForTheSource) {
  MakeFile("secret", "secret");
  MakeFile("source", "public");
  MakeLink("link", Path("secret"));
  const Swapping swapping(Path("source"), Path("link"));
  for (int round = 0; round < 2000; ++round) {
    if (Copy(Path("source"), Path("copy"), Depth::kSingle, kNothingGuarded) &&
        !std::filesystem::is_symlink(Path("copy"))) {
      ASSERT_EQ(ReadAll(Path("copy")), "public");
    }
    ::unlink(Path("copy").c_str());
  }
}

}  // namespace
}  // namespace holdfast::files
