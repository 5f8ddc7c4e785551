#include "files/disk/mounts.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::files {
namespace {

class ProtectedMountsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::EnterPrivateMounts().empty()) GTEST_SKIP() << support::EnterPrivateMounts();
  }
  void TearDown() override {
    for (const std::string& path : mounted_) ::umount2(path.c_str(), MNT_DETACH);
  }

  std::string Mount(const std::string& name) {
    const std::string path = dir_.path() + "/" + name;
    EXPECT_EQ(::mkdir(path.c_str(), 0755), 0);
    EXPECT_EQ(::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=4k"), 0);
    return mounted_.emplace_back(path);
  }

  support::ScratchDir dir_;
  std::vector<std::string> mounted_;
};

TEST_F(ProtectedMountsTest, AreInPlaceWhateverIsMountedBesides) {
  const ProtectedMounts mounts({Mount("a"), Mount("b")});
  EXPECT_TRUE(mounts.AreInPlace());
  const std::string other = Mount("c");
  EXPECT_TRUE(mounts.AreInPlace());
  ASSERT_EQ(::umount2(other.c_str(), MNT_DETACH), 0);
  EXPECT_TRUE(mounts.AreInPlace());
}

TEST_F(ProtectedMountsTest, AreNotInPlaceOnceOneHasGone) {
  const std::string path = Mount("a");
  const ProtectedMounts mounts({path, Mount("b")});
  ASSERT_EQ(::umount2(path.c_str(), MNT_DETACH), 0);
  EXPECT_FALSE(mounts.AreInPlace());
  ASSERT_EQ(::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=4k"), 0);
  EXPECT_FALSE(mounts.AreInPlace()) << "something else may have been reached meanwhile";
}

TEST_F(ProtectedMountsTest, AreNotInPlaceWhenOneNeverWas) {
  EXPECT_FALSE(ProtectedMounts({Mount("a"), dir_.path()}).AreInPlace());
}

TEST_F(ProtectedMountsTest, NoneAreAlwaysInPlace) { EXPECT_TRUE(ProtectedMounts().AreInPlace()); }

}  // namespace
}  // namespace holdfast::files
