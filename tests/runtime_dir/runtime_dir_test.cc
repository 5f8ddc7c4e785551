#include "runtime_dir/runtime_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/environment_variable.h"
#include "support/scratch_dir.h"

namespace holdfast::runtime_dir {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A variable of the environment, which has its value from before when the object is destroyed. Nothing unsets it.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value)
      : name_(name), before_(EnvironmentVariable(name)) {
    Set(value);
  }
  ~Variable() { Set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  void Set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* const name_;
  const std::optional<std::string> before_;
};

class RuntimeDirTest : public testing::Test {
 protected:
  std::string In(const std::string& name) const { return scratch_.path() + "/" + name; }
  static std::string Found() {
    const auto found = FindRuntimeDir();
    return found ? found->path : found.error().message;
  }
  std::string WhyNot(const std::string& name) const {
    const auto prepared = PrepareRuntimeDir({In(name)});
    return prepared ? "it is safe" : prepared.error().message;
  }
  // Returns whether the system has made a directory for a login of this user.
  static bool HasLoginDirectory() {
    struct stat status;
    return ::stat(login().c_str(), &status) == 0 && status.st_uid == ::geteuid();
  }
  static std::string login() { return "/run/user/" + std::to_string(::geteuid()); }

  support::ScratchDir scratch_;
  Variable xdg_{"XDG_RUNTIME_DIR", std::nullopt}, home_{"HOME", scratch_.path()};
};

TEST_F(RuntimeDirTest, IsInTheDirectoryOfTheSession) {
  xdg_.Set("/run/user/1");
  EXPECT_EQ(Found(), "/run/user/1/holdfast");
  EXPECT_EQ(FindRuntimeDir()->url(), "unix:///run/user/1/holdfast/exec-server.sock");
  xdg_.Set("/run/user/1//");
  EXPECT_EQ(Found(), "/run/user/1/holdfast");
}

TEST_F(RuntimeDirTest, IsNeverInTmpWithoutASession) {
  const std::string expected = HasLoginDirectory() ? login() + "/holdfast" : In(".cache/holdfast");
  EXPECT_EQ(Found(), expected);
  xdg_.Set("relative");
  EXPECT_EQ(Found(), expected);
  if (HasLoginDirectory()) return;
  home_.Set(std::nullopt);
  EXPECT_THAT(Found(), HasSubstr("set XDG_RUNTIME_DIR or HOME"));
}

TEST_F(RuntimeDirTest, HasThePlacesOfEveryEnvironment) {
  xdg_.Set("/run/session");
  EXPECT_THAT(PlacesOfRuntimeDir(),
              testing::UnorderedElementsAre("/run/session/holdfast", login() + "/holdfast", In(".cache/holdfast")));
  xdg_.Set(std::nullopt);
  home_.Set("/");
  EXPECT_THAT(PlacesOfRuntimeDir(), testing::UnorderedElementsAre(login() + "/holdfast", "/.cache/holdfast"));
}

TEST_F(RuntimeDirTest, IsMadeForItsOwnerAlone) {
  ASSERT_TRUE(PrepareRuntimeDir({In(".cache/holdfast")}).has_value());
  for (const char* name : {".cache", ".cache/holdfast"}) {
    EXPECT_EQ(fs::status(In(name)).permissions(), fs::perms::owner_all) << name;
  }
  EXPECT_TRUE(OpenRuntimeDir({In(".cache/holdfast")}).has_value());
}

TEST_F(RuntimeDirTest, IsNotMadeWhereTheSessionHasNoDirectory) {
  EXPECT_THAT(WhyNot("missing/holdfast"), HasSubstr("there is no directory " + In("missing") + "; unset"));
  EXPECT_EQ(OpenRuntimeDir({In("missing/holdfast")}).error().kind, ErrorKind::kNotFound);
}

TEST_F(RuntimeDirTest, IsNotUsedWhereOthersCouldHaveMadeIt) {
  fs::create_directory(In("open"));
  ASSERT_EQ(::chmod(In("open").c_str(), 01777), 0);
  EXPECT_THAT(WhyNot("open/holdfast"), HasSubstr("would lie in " + In("open") + ", which all users may write"));
  EXPECT_FALSE(fs::exists(In("open/holdfast")));
}

// A home such as /tmp: another user could own its .cache.
TEST_F(RuntimeDirTest, IsNotUsedInAHomeThatAllUsersMayWrite) {
  fs::create_directory(In("open"));
  ASSERT_EQ(::chmod(In("open").c_str(), 01777), 0);
  EXPECT_THAT(WhyNot("open/.cache/holdfast"), HasSubstr("would lie in " + In("open") + ", which all users may write"));
  EXPECT_FALSE(fs::exists(In("open/.cache")));
}

TEST_F(RuntimeDirTest, SaysWhatToDoWhereItCannotBeMade) {
  EXPECT_THAT(WhyNot("missing/.cache/holdfast"), HasSubstr("name a server by --server"));
}

TEST_F(RuntimeDirTest, IsNotUsedIfItIsOpenToOthers) {
  ASSERT_TRUE(PrepareRuntimeDir({In("holdfast")}).has_value());
  ASSERT_EQ(::chmod(In("holdfast").c_str(), 0770), 0);
  EXPECT_THAT(WhyNot("holdfast"), HasSubstr("is open to other users; remove it, or set XDG_RUNTIME_DIR"));
}

TEST_F(RuntimeDirTest, IsNotUsedIfItIsALinkOrAFile) {
  fs::create_directory_symlink(scratch_.path(), In("link"));
  EXPECT_THAT(WhyNot("link"), HasSubstr("is a link or a file; remove it"));
  scratch_.Write("file", "");
  EXPECT_THAT(WhyNot("file"), HasSubstr("is a link or a file; remove it"));
}

TEST_F(RuntimeDirTest, IsNotUsedIfItBelongsToAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_TRUE(PrepareRuntimeDir({In("holdfast")}).has_value());
  ASSERT_EQ(::chown(In("holdfast").c_str(), 12345, 12345), 0);
  EXPECT_THAT(WhyNot("holdfast"), HasSubstr("belongs to another user; remove it"));
}

}  // namespace
}  // namespace holdfast::runtime_dir
