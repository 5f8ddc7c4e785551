#include "sys/permissions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::sys {
namespace {

class PermissionsTest : public testing::Test {
 protected:
  PermissionsTest() : before_(::umask(027)) {}
  ~PermissionsTest() override { ::umask(before_); }

  mode_t Mode() const {
    struct stat status{};
    EXPECT_EQ(::fstat(file_.get(), &status), 0);
    return status.st_mode & 07777;
  }

  support::ScratchDir scratch_;
  mode_t before_;
  OwnedFd file_{::open((scratch_.path() + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
};

TEST_F(PermissionsTest, TellsTheUmaskWithoutAChange) {
  EXPECT_EQ(FileModeMask(), 027U);
  EXPECT_EQ(FileModeMask(), 027U);
}

TEST_F(PermissionsTest, LeavesOutTheBitsOfTheUmask) {
  EXPECT_EQ(SetPermissions(file_.get(), 0777), 0);
  EXPECT_EQ(Mode(), 0750U);
  EXPECT_EQ(SetPermissions(file_.get(), 0444), 0);
  EXPECT_EQ(Mode(), 0440U);
}

TEST_F(PermissionsTest, SetsNoSpecialBitsAndRemovesThem) {
  EXPECT_EQ(SetPermissions(file_.get(), 07755), 0);
  EXPECT_EQ(Mode(), 0750U);
  ASSERT_EQ(::fchmod(file_.get(), 06750), 0);
  EXPECT_EQ(SetPermissions(file_.get(), 0750), 0);
  EXPECT_EQ(Mode(), 0750U);
}

// Without a bit for execution, the file cannot be executed by root either.
TEST_F(PermissionsTest, TellsHowAFileMayBeUsed) {
  EXPECT_EQ(CheckAccess(file_.get(), W_OK), 0);
  EXPECT_EQ(CheckAccess(file_.get(), X_OK), EACCES);
  ASSERT_EQ(::fchmod(file_.get(), 0700), 0);
  EXPECT_EQ(CheckAccess(file_.get(), X_OK), 0);
}

}  // namespace
}  // namespace holdfast::sys
