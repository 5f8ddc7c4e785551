#include "exec_server/environment/environment_info.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;

// The tests have a directory that stands for the root of a machine. Login shells are in `accounts/`, and `first/` and
// `second/` are the directories that are searched.
class AnnouncedShellTest : public testing::Test {
 protected:
  std::string Install(std::string_view name) { return root_.Write(name, "#!/bin/true\n", 0755); }
  std::string At(const std::string& name) const { return root_.path() + "/" + name; }

  // Returns the path of the announced shell, relative to the root.
  std::string Announced(const std::string& login_shell) const {
    const std::vector<std::string> directories = {At("first"), At("second")};
    const wire::Shell shell = AnnouncedShell(login_shell, directories);
    EXPECT_EQ(shell.name, std::filesystem::path(shell.path).filename()) << shell.path;
    return shell.path.starts_with(At("")) ? shell.path.substr(At("").size()) : shell.path;
  }

  support::ScratchDir root_;
};

TEST_F(AnnouncedShellTest, IsTheLoginShellIfClientsKnowIt) {
  Install("first/bash");
  for (const std::string name : {"accounts/bash", "accounts/zsh", "accounts/sh"}) {
    EXPECT_EQ(Announced(Install(name)), name);
  }
}

TEST_F(AnnouncedShellTest, IsBashIfTheLoginShellIsOneThatClientsDoNotKnow) {
  Install("second/bash");
  for (const std::string name : {"fish", "dash", "rbash", "tmux", "nologin", "false", "bash5", "ba", "BASH"}) {
    EXPECT_EQ(Announced(Install("accounts/" + name)), "second/bash") << name;
  }
}

TEST_F(AnnouncedShellTest, IsBashIfTheLoginShellCannotBeExecuted) {
  Install("second/bash");
  root_.Write("accounts/plain/zsh", "#!/bin/true\n", 0644);
  std::filesystem::create_directories(At("accounts/folder/zsh"));
  std::filesystem::create_symlink("nowhere", At("accounts/zsh"));
  for (const std::string name : {"accounts/missing/zsh", "accounts/plain/zsh", "accounts/folder/zsh", "accounts/zsh",
                                 "accounts/folder/zsh/", "accounts/plain/zsh/zsh"}) {
    EXPECT_EQ(Announced(At(name)), "second/bash") << name;
  }
}

TEST_F(AnnouncedShellTest, IsBashIfTheLoginShellIsEmptyOrRelative) {
  Install("second/bash");
  Install("zsh");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root_.path());
  for (const char* login_shell : {"", "/", "zsh", "./zsh", "../"}) {
    EXPECT_EQ(Announced(login_shell), "second/bash") << login_shell;
  }
  std::filesystem::current_path(before);
}

TEST_F(AnnouncedShellTest, HasTheNameOfTheLinkNotOfTheProgramBehindIt) {
  Install("second/bash");
  Install("accounts/dash");
  std::filesystem::create_symlink("dash", At("accounts/sh"));
  EXPECT_EQ(Announced(At("accounts/sh")), "accounts/sh");
  Install("accounts/zsh");
  std::filesystem::create_symlink("zsh", At("accounts/my-shell"));
  EXPECT_EQ(Announced(At("accounts/my-shell")), "second/bash");
}

TEST_F(AnnouncedShellTest, IsTheBashOfTheFirstDirectoryWhereItCanBeExecuted) {
  Install("second/bash");
  std::filesystem::create_directories(At("first/bash"));
  EXPECT_EQ(Announced(""), "second/bash");
  std::filesystem::remove(At("first/bash"));
  root_.Write("first/bash", "#!/bin/true\n", 0644);
  EXPECT_EQ(Announced(""), "second/bash");
  std::filesystem::permissions(At("first/bash"), std::filesystem::perms::owner_all);
  EXPECT_EQ(Announced(""), "first/bash");
}

TEST_F(AnnouncedShellTest, IsShWhereThereIsNoBash) {
  Install("first/sh");
  Install("second/sh");
  Install("first/zsh");
  EXPECT_EQ(Announced(Install("accounts/fish")), "first/sh");
  Install("second/bash");
  EXPECT_EQ(Announced(At("accounts/fish")), "second/bash");
}

TEST_F(AnnouncedShellTest, IsTheUsualShWhereNoneIsFound) { EXPECT_EQ(Announced("/usr/sbin/nologin"), "/bin/sh"); }

TEST(ShellDirectoriesTest, AreTheUsualOnesAndThenTheAbsoluteOnesOfThePath) {
  EXPECT_THAT(ShellDirectories("/opt/a:b::/opt/c:./d:"),
              ElementsAre("/bin", "/usr/bin", "/usr/local/bin", "/opt/a", "/opt/c"));
  EXPECT_THAT(ShellDirectories(""), ElementsAre("/bin", "/usr/bin", "/usr/local/bin"));
}

}  // namespace
}  // namespace holdfast::exec_server
