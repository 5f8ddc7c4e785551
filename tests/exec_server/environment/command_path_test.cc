#include "exec_server/environment/command_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

namespace fs = std::filesystem;

std::string PathAfter(const std::string& path, const std::string& directory = "/d/path") {
  process::Environment environment = {{"A", "1"}, {"PATH", path}, {"Z", "2"}};
  PutFirstInPath(environment, directory);
  return environment[1].second;
}

TEST(PutFirstInPathTest, GoesFirst) {
  EXPECT_EQ(PathAfter("/usr/bin:/bin"), "/d/path:/usr/bin:/bin");
  EXPECT_EQ(PathAfter(":/bin"), "/d/path::/bin");
  EXPECT_EQ(PathAfter("/d/path2:/d"), "/d/path:/d/path2:/d");
}

TEST(PutFirstInPathTest, StaysWhereAClientHasPutIt) {
  for (const char* path : {"/d/path", "/d/path:/bin", "/bin:/d/path", "/bin:/d/path:/sbin"}) {
    EXPECT_EQ(PathAfter(path), path);
  }
}

TEST(PutFirstInPathTest, IsNotForcedOnAnEnvironmentWithoutPath) {
  EXPECT_EQ(PathAfter(""), "");
  process::Environment environment = {{"A", "1"}};
  PutFirstInPath(environment, "/d/path");
  EXPECT_EQ(environment, (process::Environment{{"A", "1"}}));
}

TEST(PutFirstInPathTest, LeavesPathAloneWhereNothingIsInstalled) { EXPECT_EQ(PathAfter("/bin", ""), "/bin"); }

class FindCommandPathTest : public testing::Test {
 protected:
  FindCommandPathTest() {
    fs::create_directory(dir_.path() + "/bin");
    dir_.Write("libexec/holdfast/path/apply_patch", "", 0755);
  }

  std::string Found() const { return FindCommandPath(dir_.path() + "/bin"); }
  std::string Path() const { return dir_.path() + "/libexec/holdfast/path"; }

  support::ScratchDir dir_;
};

TEST_F(FindCommandPathTest, IsBesideThePrograms) { EXPECT_EQ(Found(), Path()); }

TEST_F(FindCommandPathTest, IsNothingWhenNothingIsInstalled) {
  ASSERT_EQ(::chmod((Path() + "/apply_patch").c_str(), 0644), 0);
  EXPECT_EQ(Found(), "");
  fs::remove_all(Path());
  EXPECT_EQ(Found(), "");
  EXPECT_EQ(FindCommandPath("/no/such/bin"), "");
}

TEST_F(FindCommandPathTest, IsNothingThatOthersCanWrite) {
  ASSERT_EQ(::chmod(Path().c_str(), 0777), 0);
  EXPECT_EQ(Found(), "");
}

TEST_F(FindCommandPathTest, IsNothingThatOthersHaveMade) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  for (const char* name :
       {"libexec", "libexec/holdfast", "libexec/holdfast/path", "libexec/holdfast/path/apply_patch"}) {
    const std::string path = dir_.path() + "/" + name;
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(Found(), "") << name;
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(Found(), Path());
}

TEST_F(FindCommandPathTest, IsNoLink) {
  fs::rename(dir_.path() + "/libexec", dir_.path() + "/elsewhere");
  fs::create_directory_symlink("elsewhere", dir_.path() + "/libexec");
  EXPECT_EQ(Found(), "");
}

}  // namespace
}  // namespace holdfast::exec_server
