#include "exec_server/url_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/contents.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kUrl = "ws://127.0.0.1:1/secret";

class UrlFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name = "url.txt") const { return scratch_.path() + "/" + name; }
  mode_t ModeOf(const std::string& path) const {
    struct stat status{};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  std::string RefusalOf(const std::string& path) const {
    const auto file = UrlFile::Create(path, kUrl);
    return file ? "none" : file.error().message;
  }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator()));
  }

  support::ScratchDir scratch_;
};

TEST_F(UrlFileTest, HasTheUrlAndIsForItsOwnerAlone) {
  for (const mode_t mask : {0u, 0777u}) {
    const mode_t before = ::umask(mask);
    const auto file = UrlFile::Create(Path(), kUrl);
    ::umask(before);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(ModeOf(Path()), 0600u) << mask;
    EXPECT_EQ(support::Contents(Path()), std::string(kUrl) + "\n");
    EXPECT_EQ(FileCount(), 1u);
  }
}

TEST_F(UrlFileTest, MayBeNamedByARelativePath) {
  const fs::path before = fs::current_path();
  fs::current_path(scratch_.path());
  {
    const auto file = UrlFile::Create("url.txt", kUrl);
    ASSERT_TRUE(file) << file.error().message;
    fs::current_path(before);
    EXPECT_TRUE(fs::exists(Path()));
  }
  EXPECT_FALSE(fs::exists(Path()));
}

TEST_F(UrlFileTest, GoesWithItsOwner) {
  std::optional<UrlFile> last;
  {
    auto first = UrlFile::Create(Path(), kUrl);
    ASSERT_TRUE(first);
    last.emplace(*std::move(first));
  }
  EXPECT_TRUE(fs::exists(Path()));
  last.reset();
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(UrlFileTest, LeavesTheFileThatHasTakenItsPlace) {
  std::optional<UrlFile> first(*UrlFile::Create(Path(), kUrl));
  const auto second = UrlFile::Create(Path(), "ws://127.0.0.1:2/other");
  ASSERT_TRUE(second);
  first.reset();
  EXPECT_EQ(support::Contents(Path()), "ws://127.0.0.1:2/other\n");
}

TEST_F(UrlFileTest, ReplacesWhatAKilledServerHasLeft) {
  scratch_.Write("url.txt", "a longer text than that of the URL which is written", 0666);
  const auto file = UrlFile::Create(Path(), kUrl);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(support::Contents(Path()), std::string(kUrl) + "\n");
  EXPECT_EQ(ModeOf(Path()), 0600u);
}

TEST_F(UrlFileTest, ReplacesNothingElse) {
  scratch_.Write("victim", "kept");
  fs::create_symlink("victim", Path("link"));
  fs::create_symlink("/dev/stdout", Path("device"));
  fs::create_directory(Path("directory"));
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  for (const char* name : {"link", "device", "directory", "fifo"}) {
    EXPECT_THAT(RefusalOf(Path(name)), HasSubstr("not a regular file")) << name;
  }
  for (const std::string& path : {Path("directory/"), Path("."), Path("directory/..")}) {
    EXPECT_THAT(RefusalOf(path), HasSubstr("it is a directory")) << path;
  }
  EXPECT_EQ(support::Contents(Path("victim")), "kept");
  EXPECT_THAT(RefusalOf(Path("missing/url.txt")), HasSubstr("No such file or directory"));
  EXPECT_EQ(FileCount(), 5u);
}

TEST_F(UrlFileTest, IsNotWrittenWhereOtherUsersCouldReplaceIt) {
  for (const mode_t mode : {0777u, 0770u, 0702u}) {
    ASSERT_EQ(::chmod(scratch_.path().c_str(), mode), 0);
    EXPECT_THAT(RefusalOf(Path()), HasSubstr("could replace the file (chmod go-w)")) << mode;
  }
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 01777), 0);
  EXPECT_EQ(RefusalOf(Path()), "none");
}

TEST_F(UrlFileTest, IsNotWrittenAmongTheFilesOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  scratch_.Write("theirs", "");
  ASSERT_EQ(::chown(Path("theirs").c_str(), 1, 1), 0);
  EXPECT_THAT(RefusalOf(Path("theirs")), HasSubstr("belongs to another user"));
  ASSERT_EQ(::chown(scratch_.path().c_str(), 1, 1), 0);
  EXPECT_THAT(RefusalOf(Path()), HasSubstr("its directory belongs to another user"));
}

}  // namespace
}  // namespace holdfast::exec_server
