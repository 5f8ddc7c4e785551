#include "sys/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::sys {
namespace {

struct stat StatusOf(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

TEST(FileIdentityTest, IsTheSameUnderEveryNameOfAFileAndAnotherForAnotherFile) {
  const support::ScratchDir dir;
  const std::string file = dir.Write("file", ""), other = dir.Write("other", ""), link = dir.path() + "/link";
  ASSERT_EQ(::link(file.c_str(), link.c_str()), 0);
  EXPECT_TRUE(IsSameFile(StatusOf(file), StatusOf(link)));
  EXPECT_FALSE(IsSameFile(StatusOf(file), StatusOf(other)));
}

TEST(FileIdentityTest, TheSameNumberOnAnotherDeviceIsAnotherFile) {
  const FileIdentity one{.device = 1, .inode = 7}, other{.device = 2, .inode = 7};
  EXPECT_NE(one, other);
  EXPECT_LT(one, other);
}

TEST(FileIdentityTest, OfADescriptorIsThatOfItsFile) {
  const support::ScratchDir dir;
  const std::string path = dir.Write("file", "");
  const OwnedFd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  const auto identity = IdentityOf(file.get(), path);
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(*identity, FileIdentity::Of(StatusOf(path)));
}

}  // namespace
}  // namespace holdfast::sys
