#include "files/disk/cached_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "files/disk/mounts.h"
#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

dev_t DeviceOf(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_dev;
}

class CachedFilesTest : public testing::Test {
 protected:
  // Writes a file and reads it, so that the kernel has it in memory.
  std::string Warm(const std::string& name, std::string_view text) {
    const std::string path = dir_.Write(name, text);
    for (int i = 0; i < 100 && !files_.Read(path, Symlinks::kFollow, 1000); ++i) {
      const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      std::string bytes(text.size(), 0);
      EXPECT_EQ(::read(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(text.size()));
      ::close(fd);
    }
    return path;
  }

  // Reads a file with several attempts. The kernel gives up a look-up in memory if the access time of a link has to be
  // updated, or if something is renamed meanwhile.
  std::optional<std::string> Read(const std::string& path, Symlinks symlinks = Symlinks::kFollow) {
    std::optional<std::string> bytes;
    for (int attempt = 0; attempt < 100 && !bytes; ++attempt) {
      struct stat status;
      (void)::stat(path.c_str(), &status);  // brings the path into the memory of the kernel
      bytes = files_.Read(path, symlinks, 1000);
    }
    return bytes;
  }

  support::ScratchDir dir_;
  CachedFiles files_;
};

TEST_F(CachedFilesTest, ReadsWhatIsInMemory) {
  if (!LocalDevices().Contains(DeviceOf(dir_.path()))) GTEST_SKIP() << "the scratch directory is on no local disk";
  EXPECT_EQ(Read(Warm("f", "hello")), "hello");
  EXPECT_EQ(Read(Warm("full", std::string(1000, 'x'))), std::string(1000, 'x'));
}

TEST_F(CachedFilesTest, LeavesTheRestToAWorker) {
  const std::string file = Warm("f", "hello");
  EXPECT_EQ(Read(dir_.Write("long", std::string(1001, 'x'))), std::nullopt);
  EXPECT_EQ(Read(dir_.Write("empty", "")), std::nullopt);
  EXPECT_EQ(Read(dir_.path() + "/missing"), std::nullopt);
  EXPECT_EQ(Read(file + "/below"), std::nullopt);
  EXPECT_EQ(Read(dir_.path()), std::nullopt);
  EXPECT_EQ(Read("/proc/version"), std::nullopt);
  EXPECT_EQ(Read("/dev/null"), std::nullopt);
  ASSERT_EQ(::mkfifo((dir_.path() + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(Read(dir_.path() + "/fifo"), std::nullopt);
}

TEST_F(CachedFilesTest, FollowsALinkOnlyWhenItMay) {
  const std::string file = Warm("f", "hello");
  const bool readable = Read(file).has_value();
  const std::string link = dir_.path() + "/link";
  ASSERT_EQ(::symlink("f", link.c_str()), 0);
  EXPECT_EQ(Read(link).has_value(), readable);
  EXPECT_EQ(Read(link, Symlinks::kRefuse), std::nullopt);
}

TEST_F(CachedFilesTest, SeesWhatWasWrittenLast) {
  const std::string file = Warm("f", "old");
  const auto old = Read(file);
  dir_.Write("f", "newer");
  const auto now = Read(file);
  if (old) EXPECT_EQ(old, "old");
  if (now) EXPECT_EQ(now, "newer");
  EXPECT_EQ(now.has_value(), old.has_value());
}

TEST(LocalDevicesTest, TellsADiskFromAKernelInterface) {
  LocalDevices devices;
  EXPECT_FALSE(devices.Contains(DeviceOf("/proc")));
  EXPECT_FALSE(devices.Contains(makedev(0, 0)));
  if (DeviceOf("/dev/shm") != DeviceOf("/dev")) EXPECT_TRUE(devices.Contains(DeviceOf("/dev/shm")));
}

TEST(LocalDevicesTest, NoticesWhatIsMountedLater) {
  // The first tmpfs may move the process into a mount namespace of its own. The table of that namespace counts then.
  const support::SmallTmpfs first(1 << 20);
  if (!first.why_not().empty()) GTEST_SKIP() << first.why_not();
  LocalDevices devices;
  EXPECT_TRUE(devices.Contains(DeviceOf(first.path())));
  const support::SmallTmpfs later(1 << 20);
  EXPECT_TRUE(devices.Contains(DeviceOf(later.path())));
}

}  // namespace
}  // namespace holdfast::files
