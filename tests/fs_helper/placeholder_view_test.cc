#include "fs_helper/placeholder_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/file_uri.h"
#include "support/scratch_dir.h"
#include "support/small_tmpfs.h"

namespace holdfast::fs_helper {
namespace {

// Mounts as a sandbox makes them, in a mount namespace of the test's own.
class PlaceholderViewTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::EnterPrivateMounts().empty()) GTEST_SKIP() << support::EnterPrivateMounts();
  }
  void TearDown() override {
    for (auto path = mounted_.rbegin(); path != mounted_.rend(); ++path) ::umount2(path->c_str(), MNT_DETACH);
  }

  std::string In(std::string_view name) const { return dir_.path() + "/" + std::string(name); }
  std::string MakeDirectory(std::string_view name, mode_t mode = 0755) const {
    EXPECT_EQ(::mkdir(In(name).c_str(), 0755), 0);
    EXPECT_EQ(::chmod(In(name).c_str(), mode), 0);
    return In(name);
  }
  std::string Cover(std::string_view name, const char* mode) {
    const std::string path = MakeDirectory(name);
    EXPECT_EQ(::mount("tmpfs", path.c_str(), "tmpfs", 0, mode), 0);
    return mounted_.emplace_back(path);
  }
  void Bind(const std::string& from, const std::string& onto) {
    EXPECT_EQ(::mount(from.c_str(), onto.c_str(), nullptr, MS_BIND, nullptr), 0);
    mounted_.push_back(onto);
  }
  static bool IsVisible(const std::string& path, LastLink last_link = LastLink::kFollow) {
    const auto visible = CheckPlaceholder({path, Access::kRead}, last_link);
    EXPECT_TRUE(visible || visible.error().kind == ErrorKind::kNotFound);
    return visible.has_value();
  }

  support::ScratchDir dir_;
  std::vector<std::string> mounted_;
};

TEST_F(PlaceholderViewTest, HidesAnEmptyCover) { EXPECT_FALSE(IsVisible(Cover("cover", "mode=0555"))); }

TEST_F(PlaceholderViewTest, RefusesToWriteToACover) {
  const auto refused = CheckPlaceholder({Cover("cover", "mode=0555"), Access::kWrite}, LastLink::kFollow);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kSystem);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("Read-only file system"));
}

TEST_F(PlaceholderViewTest, HidesAnEmptyFileThatCovers) {
  const support::SmallTmpfs elsewhere(1 << 20);
  const std::string cover = elsewhere.path() + "/file";
  std::ofstream(cover).close();
  ASSERT_EQ(::chmod(cover.c_str(), 0444), 0);
  Bind(cover, dir_.Write("file", ""));
  EXPECT_FALSE(IsVisible(In("file")));
  EXPECT_TRUE(IsVisible(cover)) << "no mount of its own";
}

TEST_F(PlaceholderViewTest, ShowsWhatHasAnotherModeOrSomethingInIt) {
  EXPECT_TRUE(IsVisible(Cover("open", "mode=0755")));
  EXPECT_TRUE(IsVisible(Cover("closed", "mode=0")));
  const std::string full = Cover("full", "mode=0555");
  std::ofstream(full + "/file").close();
  EXPECT_TRUE(IsVisible(full));
}

TEST_F(PlaceholderViewTest, ShowsTheUsersOwn) {
  EXPECT_TRUE(IsVisible(MakeDirectory("plain", 0555)));
  EXPECT_TRUE(IsVisible(dir_.Write("file", "", 0444)));
  EXPECT_TRUE(IsVisible(In("missing"))) << "whoever opens it says so";
}

TEST_F(PlaceholderViewTest, LooksBehindALinkThatIsFollowed) {
  Cover("cover", "mode=0555");
  ASSERT_EQ(::symlink("cover", In("link").c_str()), 0);
  EXPECT_FALSE(IsVisible(In("link"), LastLink::kFollow));
  EXPECT_TRUE(IsVisible(In("link"), LastLink::kKeep));
}

TEST_F(PlaceholderViewTest, LeavesThemOutOfLists) {
  Cover("cover", "mode=0555");
  wire::FsReadDirectoryResult listed{.entries = {{"cover", true, false}, {"other", true, false}}};
  HidePlaceholders(dir_.path(), listed);
  ASSERT_EQ(listed.entries.size(), 1u);
  EXPECT_EQ(listed.entries[0].file_name, "other");
  wire::FsWalkResult walked;
  walked.entries = {{FileUri(In("cover")), wire::WalkedKind::kDirectory},
                    {FileUri(In("other")), wire::WalkedKind::kFile}};
  HidePlaceholders(dir_.path(), walked);
  ASSERT_EQ(walked.entries.size(), 1u);
  EXPECT_EQ(walked.entries[0].path, FileUri(In("other")));
}

}  // namespace
}  // namespace holdfast::fs_helper
