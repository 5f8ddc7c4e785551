#include "files/disk/metadata.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "files/disk/adversity.h"
#include "files/disk/storage_fixture.h"
#include "support/proc.h"
#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

constexpr Symlinks kBoth[] = {Symlinks::kFollow, Symlinks::kRefuse};

int64_t NowMs() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

void SetModified(const std::string& path, timespec time) {
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time};
  EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

// Looks up cached metadata with several attempts. The kernel gives up a look-up in memory if the access time of a link
// has to be updated, or if something is renamed meanwhile.
std::optional<Result<Metadata>> GetWarm(const std::string& path, Symlinks symlinks) {
  std::optional<Result<Metadata>> cached;
  for (int attempt = 0; attempt < 100 && !cached; ++attempt) {
    (void)GetMetadata(path, symlinks);  // brings the path into the memory of the kernel
    cached = GetCachedMetadata(path, symlinks);
  }
  return cached;
}

class MetadataTest : public StorageTest {
 protected:
  // Looks a path up in both ways. A path that was just looked up is in memory, so both results must be equal.
  static Result<Metadata> Get(const std::string& path, Symlinks symlinks = Symlinks::kFollow) {
    auto metadata = GetMetadata(path, symlinks);
    if (const auto cached = GetWarm(path, symlinks)) {
      EXPECT_EQ(*cached, metadata) << path;
    } else {
      EXPECT_TRUE(!metadata) << path << " is not in memory";
    }
    return metadata;
  }
};
HOLDFAST_ON_EACH_STORAGE(MetadataTest);

TEST_P(MetadataTest, HasThePermissionsWithoutTheSpecialBits) {
  const std::string path = MakeFile("file", "12345", 0751);
  ASSERT_EQ(::chmod(path.c_str(), 06751), 0);
  for (const Symlinks symlinks : kBoth) {
    const auto metadata = Get(path, symlinks);
    ASSERT_TRUE(Succeeds(metadata));
    EXPECT_EQ(metadata->permissions, 0751);
  }
}

TEST_P(MetadataTest, DescribesAFile) {
  const std::string path = MakeFile("file", "12345");
  for (const Symlinks symlinks : kBoth) {
    const auto metadata = Get(path, symlinks);
    ASSERT_TRUE(Succeeds(metadata));
    EXPECT_TRUE(metadata->is_file && !metadata->is_directory && !metadata->is_symlink);
    EXPECT_EQ(metadata->size, 5u);
  }
}

TEST_P(MetadataTest, DescribesADirectory) {
  for (const std::string& path : {MakeDirectory("folder"), Path("folder/"), std::string("/")}) {
    for (const Symlinks symlinks : kBoth) {
      const auto metadata = Get(path, symlinks);
      ASSERT_TRUE(Succeeds(metadata));
      EXPECT_TRUE(metadata->is_directory && !metadata->is_file && !metadata->is_symlink);
    }
  }
}

TEST_P(MetadataTest, DescribesSpecialFilesAsNeither) {
  for (const std::string& path : {MakeFifo("fifo"), MakeSocket("socket"), std::string("/dev/null")}) {
    for (const Symlinks symlinks : kBoth) {
      const auto metadata = Get(path, symlinks);
      ASSERT_TRUE(Succeeds(metadata));
      EXPECT_FALSE(metadata->is_file || metadata->is_directory || metadata->is_symlink);
    }
  }
}

TEST_P(MetadataTest, DescribesTheTargetOfALinkAndSaysThatItIsOne) {
  MakeFile("file", "12345");
  SetModified(Path("file"), {.tv_sec = 1000, .tv_nsec = 0});
  MakeDirectory("folder");
  MakeLink("to_link", "to_file");
  for (const std::string& path : {MakeLink("to_file", "file"), Path("to_link")}) {
    const auto metadata = Get(path);
    ASSERT_TRUE(Succeeds(metadata));
    EXPECT_TRUE(metadata->is_file && metadata->is_symlink);
    EXPECT_EQ(metadata->size, 5u);
    EXPECT_EQ(metadata->modified_at_ms, 1'000'000);
  }
  const auto metadata = Get(MakeLink("to_folder", "folder"));
  ASSERT_TRUE(Succeeds(metadata));
  EXPECT_TRUE(metadata->is_directory && metadata->is_symlink);
}

TEST_P(MetadataTest, DoesNotCallAFileBehindALinkOne) {
  MakeDirectory("folder");
  MakeFile("folder/file");
  const auto metadata = Get(MakeLink("link", "folder") + "/file");
  ASSERT_TRUE(Succeeds(metadata));
  EXPECT_TRUE(metadata->is_file && !metadata->is_symlink);
}

TEST_P(MetadataTest, FindsNothingWhereNothingIs) {
  for (const std::string& path : {Path("missing"), Path("no/parent"), MakeLink("dangling", "nowhere")}) {
    EXPECT_TRUE(FailsWith(Get(path), ErrorKind::kNotFound, "stat " + path + ": No such file"));
  }
  EXPECT_TRUE(FailsWith(Get(Path("missing"), Symlinks::kRefuse), ErrorKind::kNotFound, Path("missing")));
}

TEST_P(MetadataTest, RefusesALinkAnywhereWhenTold) {
  MakeDirectory("folder");
  MakeFile("folder/file");
  MakeLink("link", "folder");
  for (const std::string& path : {Path("link"), Path("link/file"), Path("link/missing"), MakeLink("dangling", "no")}) {
    EXPECT_TRUE(FailsWith(Get(path, Symlinks::kRefuse), ErrorKind::kInvalidRequest,
                          "path " + path + ": contains a symbolic link"));
  }
}

TEST_P(MetadataTest, ReportsOtherErrorsAsTheyAre) {
  MakeFile("file");
  MakeLink("loop", "loop");
  EXPECT_TRUE(FailsWith(Get(Path("loop")), ErrorKind::kSystem, "symbolic links"));
  for (const Symlinks symlinks : kBoth) {
    EXPECT_TRUE(FailsWith(Get(Path("file/x"), symlinks), ErrorKind::kSystem, "Not a directory"));
    EXPECT_TRUE(FailsWith(Get(Path(std::string(256, 'n')), symlinks), ErrorKind::kSystem, "too long"));
    EXPECT_TRUE(FailsWith(Get(Path(std::string(5000, '/')), symlinks), ErrorKind::kSystem, "too long"));
    EXPECT_TRUE(FailsWith(Get("", symlinks), ErrorKind::kNotFound, ""));
  }
}

TEST_P(MetadataTest, ReportsWhatIsDenied) {
  MakeDirectory("closed");
  const std::string path = MakeFile("closed/file");
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0), 0);
  {
    const AsOrdinaryUser ordinary;
    for (const Symlinks symlinks : kBoth) {
      EXPECT_TRUE(FailsWith(Get(path, symlinks), ErrorKind::kPermissionDenied, path));
      EXPECT_TRUE(Succeeds(Get(Path("closed"), symlinks)));
    }
  }
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0700), 0);
}

TEST_P(MetadataTest, TakesEveryNameTheKernelTakes) {
  for (const std::string& name : {std::string("two\nlines"), std::string(255, 'n'), std::string("\xff\xfe")}) {
    MakeFile(name, "12345");
    for (const Symlinks symlinks : kBoth) EXPECT_EQ(Get(Path(name), symlinks)->size, 5u);
  }
}

TEST_P(MetadataTest, TellsTheTimesInMilliseconds) {
  constexpr int64_t kSlackMs = 5'000;  // file systems use a coarser clock, which lags behind
  const int64_t before = NowMs();
  const std::string path = MakeFile("file");
  const auto fresh = Get(path);
  ASSERT_TRUE(Succeeds(fresh));
  EXPECT_NEAR(static_cast<double>(fresh->modified_at_ms), static_cast<double>(before), kSlackMs);
  if (fresh->created_at_ms != 0) {
    EXPECT_NEAR(static_cast<double>(fresh->created_at_ms), static_cast<double>(before), kSlackMs);
  }
  SetModified(path, {.tv_sec = 1'234'567'890, .tv_nsec = 987'654'321});
  EXPECT_EQ(Get(path)->modified_at_ms, 1'234'567'890'987);
  EXPECT_EQ(Get(path)->created_at_ms, fresh->created_at_ms);
  SetModified(path, {.tv_sec = -2, .tv_nsec = 500'000'000});
  EXPECT_EQ(Get(path)->modified_at_ms, -1'500);
}

TEST_P(MetadataTest, TellsTheNearestTimeWhereMillisecondsDoNotSuffice) {
  using Limits = std::numeric_limits<int64_t>;
  const std::string path = MakeFile("file");
  for (const int64_t seconds : {Limits::max(), Limits::min(), Limits::max() / 1000, Limits::min() / 1000}) {
    SetModified(path, {.tv_sec = seconds, .tv_nsec = 999'999'999});
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    if (status.st_mtim.tv_sec != seconds) continue;  // this file system cannot store such a time
    EXPECT_EQ(Get(path)->modified_at_ms, seconds > 0 ? Limits::max() : Limits::min());
  }
}

TEST_P(MetadataTest, SaysZeroWhereNoTimeOfCreationIsKnown) {
  const auto metadata = GetMetadata("/proc/self/status", Symlinks::kFollow);
  ASSERT_TRUE(Succeeds(metadata));
  EXPECT_EQ(metadata->created_at_ms, 0);
}

TEST_P(MetadataTest, LeaksNoDescriptor) {
  const std::string file = MakeFile("file"), link = MakeLink("link", "file");
  const size_t before = support::CountFds(::getpid());
  for (const std::string& path : {file, link, Path("missing")}) {
    for (const Symlinks symlinks : kBoth) (void)Get(path, symlinks);
  }
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

class CachedMetadataTest : public StorageTest {};
HOLDFAST_ON_EACH_STORAGE(CachedMetadataTest);

TEST_P(CachedMetadataTest, KnowsNothingOfWhatWasNeverLookedUp) {
  for (const Symlinks symlinks : kBoth) EXPECT_FALSE(GetCachedMetadata(Path("never_seen"), symlinks));
  // The link itself is in memory, but its target is not.
  EXPECT_FALSE(GetCachedMetadata(MakeLink("link", "never_seen_either"), Symlinks::kFollow));
}

TEST_P(CachedMetadataTest, SeesAChangeAtOnce) {
  const std::string path = MakeFile("file", "12345");
  ASSERT_EQ(::truncate(path.c_str(), 3), 0);
  const auto metadata = GetWarm(path, Symlinks::kFollow);
  ASSERT_TRUE(metadata) << "this kernel has no RESOLVE_CACHED";
  EXPECT_EQ((*metadata)->size, 3u);
}

// The server of this file system in user space never answers, so a process that asks it waits for ever.
TEST(DeadServerTest, IsNotWaitedFor) {
  if (!support::EnterPrivateMounts().empty()) GTEST_SKIP() << support::EnterPrivateMounts();
  OwnedFd server(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!server.is_open()) GTEST_SKIP() << "no /dev/fuse";
  const support::ScratchDir dir;
  const std::string options = fmt::format("fd={},rootmode=40000,user_id=0,group_id=0", server.get());
  if (::mount("dead", dir.path().c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) < 0) {
    GTEST_SKIP() << "cannot mount: " << ErrnoText(errno);
  }
  for (const Symlinks symlinks : kBoth) {
    const auto root = GetCachedMetadata(dir.path(), symlinks);
    EXPECT_TRUE(root && *root && (*root)->is_directory);
    EXPECT_FALSE(GetCachedMetadata(dir.path() + "/file", symlinks));
    EXPECT_FALSE(GetCachedMetadata(dir.path() + "/folder/file", symlinks));
  }
  server.Reset();
  EXPECT_EQ(::umount2(dir.path().c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace holdfast::files
