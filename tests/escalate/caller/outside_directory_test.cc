#include "escalate/caller/outside_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::escalate {
namespace {

namespace fs = std::filesystem;

class OutsideDirectoryTest : public testing::Test {
 protected:
  // Returns a process that has run the script in a shell, and then waits. The script begins in the scratch directory.
  std::unique_ptr<support::Program> Waiting(const std::string& script) {
    const std::string line = "cd \"$0\" && " + script + " && echo ready && exec sleep 1000";
    auto shell = std::make_unique<support::Program>(std::vector<std::string>{"/bin/sh", "-c", line, path_});
    shell->AwaitOutput("ready");
    return shell;
  }

  static int ErrorOf(pid_t pid) {
    const auto directory = OpenOutsideDirectory(pid);
    return directory ? 0 : directory.error();
  }

  support::ScratchDir scratch_;
  const std::string path_ = fs::canonical(scratch_.path());
};

TEST_F(OutsideDirectoryTest, HasTheRealPathOfTheDirectory) {
  const auto caller = Waiting("mkdir real && ln -s real link && cd link");
  const auto directory = OpenOutsideDirectory(caller->pid());
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->path, path_ + "/real");
}

TEST_F(OutsideDirectoryTest, StaysTheDirectoryWhateverTakesItsPath) {
  const auto caller = Waiting("mkdir sub && cd sub");
  const auto directory = OpenOutsideDirectory(caller->pid());
  ASSERT_TRUE(directory);
  fs::rename(path_ + "/sub", path_ + "/moved");
  fs::create_symlink("/etc", path_ + "/sub");
  EXPECT_EQ(fs::canonical("/proc/self/fd/" + std::to_string(directory->fd->get())), path_ + "/moved");
}

TEST_F(OutsideDirectoryTest, IsNotAnotherDirectoryAtThePath) {
  const auto removed = Waiting("mkdir sub && cd sub && rmdir ../sub");
  EXPECT_EQ(ErrorOf(removed->pid()), ESTALE);
  fs::create_directory(path_ + "/sub (deleted)");  // as the kernel calls the directory of that process
  EXPECT_EQ(ErrorOf(removed->pid()), ESTALE);
}

TEST_F(OutsideDirectoryTest, IsNoDirectoryThatOnlyTheCallerCanSee) {
  if (support::Program({"unshare", "-Urm", "true"}).Finish().status != 0) GTEST_SKIP() << "no user namespaces";
  const auto caller = Waiting(
      "mkdir sub && exec unshare -Urm /bin/sh -c 'mount -t tmpfs none sub && cd sub && echo ready && exec sleep 1000'");
  EXPECT_EQ(ErrorOf(caller->pid()), ESTALE);
}

TEST_F(OutsideDirectoryTest, IsMissingForAProcessThatHasEnded) {
  const auto caller = Waiting("true");
  const pid_t pid = caller->pid();
  caller->Signal(SIGKILL);
  (void)caller->Finish();
  EXPECT_NE(ErrorOf(pid), 0);
}

}  // namespace
}  // namespace holdfast::escalate
