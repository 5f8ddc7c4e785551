#include "sys/placeholder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "support/scratch_dir.h"

namespace holdfast::sys {
namespace {

class PlaceholderTest : public testing::Test {
 protected:
  PlaceholderTest() : mask_(::umask(027)) {}
  ~PlaceholderTest() override { ::umask(mask_); }

  std::string In(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string Directory(const std::string& name, mode_t mode = kPlaceholderDirectoryMode) const {
    EXPECT_EQ(::mkdir(In(name).c_str(), 0777), 0);
    EXPECT_EQ(::chmod(In(name).c_str(), mode), 0);
    return In(name);
  }
  std::string File(const std::string& name, mode_t mode = kPlaceholderFileMode, const std::string& text = "") const {
    std::ofstream(In(name)) << text;
    EXPECT_EQ(::chmod(In(name).c_str(), mode), 0);
    return In(name);
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & ALLPERMS;
  }
  // Checks a path with every function that there is, and returns their common result.
  static bool IsOne(const std::string& path) {
    const OwnedFd fd(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const bool is_one = IsPlaceholder(fd.get());
    EXPECT_EQ(IsPlaceholderAt(AT_FDCWD, path), is_one) << path;
    return is_one;
  }

  static inline bool are_expected_ = false;  // never reset, because the tests may be repeated in one process
  support::ScratchDir dir_;
  const mode_t mask_;
};

TEST_F(PlaceholderTest, IsAnEmptyDirectoryOrFileOfItsMode) {
  EXPECT_TRUE(IsOne(Directory("directory")));
  EXPECT_TRUE(IsOne(File("file")));
}

// A sandbox that finds the placeholder of another one before that has corrected its mode would take it for the user's.
TEST_F(PlaceholderTest, IsOneFromTheMomentInWhichItIsMade) {
  const std::string above = Directory("above", 02775);
  ASSERT_EQ(::mkdir((above + "/made").c_str(), kPlaceholderDirectoryMode), 0);
  EXPECT_TRUE(IsOne(above + "/made"));
  EXPECT_TRUE(IsOne(Directory("by-an-acl", S_ISVTX | 0550)));
  EXPECT_TRUE(IsOne(File("file-by-an-acl", S_ISVTX | 0400)));
  EXPECT_FALSE(IsOne(Directory("writable", S_ISVTX | 0755)));
  EXPECT_FALSE(IsOne(Directory("set-user-id", S_ISUID | kPlaceholderDirectoryMode)));
}

TEST_F(PlaceholderTest, IsNothingOfTheUsers) {
  EXPECT_FALSE(IsOne(Directory("writable", 0755)));
  EXPECT_FALSE(IsOne(Directory("read-only", 0555)));
  EXPECT_FALSE(IsOne(Directory("mode-of-a-file", kPlaceholderFileMode)));
  EXPECT_FALSE(IsOne(File("writable-file", 0644)));
  EXPECT_FALSE(IsOne(File("read-only-file", 0444)));
  EXPECT_FALSE(IsOne(File("filled-file", kPlaceholderFileMode, "text")));
  const std::string filled = Directory("filled", 0755);
  File("filled/file");
  ASSERT_EQ(::chmod(filled.c_str(), kPlaceholderDirectoryMode), 0);
  EXPECT_FALSE(IsOne(filled));
  EXPECT_FALSE(IsOne(In("missing")));
}

TEST_F(PlaceholderTest, IsFoundBehindALinkOnlyWhenLinksAreFollowed) {
  Directory("directory");
  ASSERT_EQ(::symlink("directory", In("link").c_str()), 0);
  EXPECT_FALSE(IsOne(In("link")));
  EXPECT_TRUE(IsPlaceholderAt(AT_FDCWD, In("link"), Links::kFollow));
}

TEST_F(PlaceholderTest, IsFoundInAListByADottedNameAndWhenExpectedByAnyName) {
  Directory(".git");
  File("plain");
  const OwnedFd directory(::open(dir_.path().c_str(), O_PATH | O_CLOEXEC));
  EXPECT_TRUE(IsListedPlaceholder(directory.get(), ".git"));
  EXPECT_FALSE(IsListedPlaceholder(directory.get(), ".missing"));
  if (!are_expected_) EXPECT_FALSE(IsListedPlaceholder(directory.get(), "plain"));
  are_expected_ = true;
  ExpectPlaceholdersOfAnyName();
  EXPECT_TRUE(IsListedPlaceholder(directory.get(), "plain"));
  EXPECT_TRUE(IsListedPlaceholder(directory.get(), ".git"));
}

TEST_F(PlaceholderTest, BecomesTheUsersByTheModeOfSomethingNew) {
  const std::string directory = Directory("directory"), file = File("file");
  EXPECT_EQ(AdoptPlaceholder(AT_FDCWD, directory, S_IFDIR | 0777), 0);
  EXPECT_EQ(AdoptPlaceholder(AT_FDCWD, file, S_IFREG | 0666), 0);
  EXPECT_EQ(ModeOf(directory), 0750u);
  EXPECT_EQ(ModeOf(file), 0640u);
  EXPECT_EQ(::umask(027), 027u) << "the umask has changed";
  EXPECT_EQ(AdoptPlaceholder(AT_FDCWD, directory, S_IFDIR | 0777), -ENOENT) << "it is none any more";
}

TEST_F(PlaceholderTest, HandsTheGroupDownAsANewDirectoryDoes) {
  ASSERT_EQ(::chmod(dir_.path().c_str(), 02755), 0);
  const std::string directory = Directory("directory", kPlaceholderDirectoryMode);
  EXPECT_EQ(AdoptPlaceholder(AT_FDCWD, directory, S_IFDIR | 0777), 0);
  EXPECT_EQ(ModeOf(directory), 02750u);
}

TEST_F(PlaceholderTest, OfAnotherUserStaysThatUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make what another user owns";
  const std::string directory = Directory("directory");
  ASSERT_EQ(::chown(directory.c_str(), 1000, 1000), 0);
  EXPECT_EQ(AdoptPlaceholder(AT_FDCWD, directory, S_IFDIR | 0777), -ENOENT);
  EXPECT_EQ(MakeOrAdoptDirectory(AT_FDCWD, directory, 0777), -EEXIST);
}

TEST_F(PlaceholderTest, IsStillOneWhenItHasJustGone) {
  const std::string path = Directory("directory");
  const OwnedFd directory(::open(path.c_str(), O_PATH | O_CLOEXEC));
  ASSERT_EQ(::rmdir(path.c_str()), 0);
  EXPECT_TRUE(IsPlaceholder(directory.get())) << "or it would be taken for a directory of the user's";
}

// A sandbox removes a placeholder under a lock, and looks at its mode under that lock.
TEST_F(PlaceholderTest, IsNotAdoptedWhileItIsRemoved) {
  const std::string directory = Directory("directory");
  OwnedFd remover(::open(directory.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(remover.get(), LOCK_EX), 0);
  std::thread adopter([&] { EXPECT_EQ(MakeOrAdoptDirectory(AT_FDCWD, directory, 0777), 0); });
  EXPECT_TRUE(IsPlaceholder(remover.get()));
  EXPECT_EQ(::rmdir(directory.c_str()), 0);
  remover.Reset();
  adopter.join();
  EXPECT_EQ(ModeOf(directory), 0750u) << "made anew";
}

TEST_F(PlaceholderTest, DoesNotBecomeAnythingOfAnotherKind) {
  const std::string directory = Directory("directory"), file = File("file");
  EXPECT_EQ(AdoptPlaceholder(AT_FDCWD, directory, S_IFREG | 0666), -EBUSY);
  EXPECT_EQ(AdoptPlaceholder(AT_FDCWD, file, S_IFDIR | 0777), -EBUSY);
  EXPECT_TRUE(IsOne(directory));
  EXPECT_TRUE(IsOne(file));
}

TEST_F(PlaceholderTest, MakesRoomForADirectoryThatIsMade) {
  const std::string directory = Directory("directory");
  EXPECT_EQ(MakeOrAdoptDirectory(AT_FDCWD, directory, 0777), 0);
  EXPECT_EQ(ModeOf(directory), 0750u);
  EXPECT_EQ(MakeOrAdoptDirectory(AT_FDCWD, directory, 0777), -EEXIST);
  EXPECT_EQ(MakeOrAdoptDirectory(AT_FDCWD, In("new"), 0700), 0);
  EXPECT_EQ(ModeOf(In("new")), 0700u);
  EXPECT_EQ(MakeOrAdoptDirectory(AT_FDCWD, File("file"), 0777), -EBUSY);
}

}  // namespace
}  // namespace holdfast::sys
