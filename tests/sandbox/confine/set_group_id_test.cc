// A command under the inner stage tries to set the set-group-ID bit, by every call that changes a mode and every way to
// name a file.
#include "sandbox/confine/set_group_id.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"
#include "support/bpf_evaluator.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class SetGroupIdTest : public InnerStageFixture {
 protected:
  void SetUp() override {
    InnerStageFixture::SetUp();
    fs::create_directory(directory_);
    (void)scratch_.Write("file", "x", 0755);
    ASSERT_EQ(::chmod(file_.c_str(), 0755), 0);
    fs::create_symlink("directory", scratch_.path() + "/to_directory");
    fs::create_symlink("file", scratch_.path() + "/to_file");
  }

  // Runs a line of Python in the sandbox. Returns "done" or the name of an errno.
  std::string Try(const std::string& line) const {
    const std::string program = fmt::format(
        "import ctypes, errno, os\n"
        "def call(*arguments):\n"
        "  if ctypes.CDLL(None, use_errno=True).syscall(*arguments) < 0: raise OSError(ctypes.get_errno(), '')\n"
        "try:\n  {}\n  print('done')\nexcept OSError as e: print(errno.errorcode[e.errno])\n",
        line);
    const Outcome outcome = Finish(Orders({"python3", "-c", program}));
    return outcome.out.empty() ? outcome.err : outcome.out.substr(0, outcome.out.size() - 1);
  }

  void ExpectSet(const std::string& line) const {
    ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
    EXPECT_EQ(Try(line), "done") << line;
    EXPECT_EQ(ModeOf(directory_), 02775u) << line;
  }
  void ExpectRefused(const std::string& line, std::string_view answer = "EPERM") const {
    EXPECT_EQ(Try(line), answer) << line;
    EXPECT_EQ(ModeOf(file_), 0755u) << line;
  }

  const std::string directory_ = scratch_.path() + "/directory", file_ = scratch_.path() + "/file";
};

TEST_F(SetGroupIdTest, ADirectoryGetsItByEveryCall) {
  ExpectSet("os.chmod('directory', 0o2775)");
  ExpectSet(fmt::format("os.chmod('{}', 0o2775)", directory_));
  ExpectSet("os.chmod('to_directory', 0o2775)");
  ExpectSet("os.fchmod(os.open('directory', os.O_RDONLY), 0o2775)");
  ExpectSet("os.chmod('directory', 0o2775, dir_fd=os.open('.', os.O_RDONLY))");
  ExpectSet("os.chdir('directory'); os.chmod('.', 0o2775)");
  ExpectSet("os.chdir('directory'); os.chmod('../directory', 0o2775)");
  // libc uses this path where the kernel has no fchmodat2.
  ExpectSet("os.chmod('/proc/self/fd/%d' % os.open('directory', os.O_PATH), 0o2775)");
}

TEST_F(SetGroupIdTest, TheNewestCallIsNoDifferent) {
  if (Try("call(452, -100, b'file', 0o755, 0)") != "done") GTEST_SKIP() << "this kernel has no fchmodat2";
  ExpectSet("call(452, os.open('directory', os.O_PATH), b'', 0o2775, 0x1000)");
  ExpectSet("call(452, -100, b'directory', 0o2775, 0x100)");
  ExpectRefused("call(452, os.open('file', os.O_RDONLY), b'', 0o2755, 0x1000)");
  ExpectRefused("call(452, -100, b'to_directory', 0o2775, 0x100)");
}

TEST_F(SetGroupIdTest, AFileGetsItByNoCall) {
  ExpectRefused("os.chmod('file', 0o2755)");
  ExpectRefused("os.chmod('file', 0o2644)");  // an access list could add the right to execute later
  ExpectRefused("os.chmod('to_file', 0o2755)");
  ExpectRefused("os.fchmod(os.open('file', os.O_RDONLY), 0o2755)");
  ExpectRefused("os.chmod('file', 0o2755, dir_fd=os.open('.', os.O_RDONLY))");
  ExpectRefused("os.chmod('/proc/self/fd/%d' % os.open('file', os.O_PATH), 0o2755)");
  ExpectRefused("os.chmod('file', 0o6755)");
  ExpectRefused("os.chmod('directory', 0o6775)");
  ExpectRefused("os.open('made', os.O_CREAT | os.O_WRONLY, 0o2755)");
}

TEST_F(SetGroupIdTest, MistakesAreAnsweredAsByTheKernel) {
  ExpectRefused("os.chmod('missing', 0o2755)", "ENOENT");
  ExpectRefused("os.chmod('missing/deep', 0o2755)", "ENOENT");
  ExpectRefused("os.fchmod(77, 0o2755)", "EBADF");
  ExpectRefused("call(90, 8, 0o2755)", "EFAULT");
}

// Otherwise pid 1 would change a file that it has open itself, or its own directory.
TEST_F(SetGroupIdTest, NamesThatMeanTheCallerDoNotMeanPid1) {
  ExpectRefused("os.chmod('/proc/self/cwd', 0o2755)", "ELOOP");
  ExpectRefused("os.chmod('/proc/1/cwd', 0o2755)", "EACCES");
  ExpectRefused("os.chmod('/dev/fd/0', 0o2755)", "ELOOP");
}

// A link to a file takes the directory's place and gives it back, again and again. pid 1 changes only what it has
// opened.
TEST_F(SetGroupIdTest, AFileThatTakesTheDirectorysPlaceGetsNothing) {
  const std::string race =
      "import os, threading\n"
      "over = False\n"
      "def swap():\n"
      "  while not over:\n"
      "    os.rename('directory', 'away'); os.symlink('file', 'directory')\n"
      "    os.unlink('directory'); os.rename('away', 'directory')\n"
      "thread = threading.Thread(target=swap); thread.start()\n"
      "for i in range(60):\n"
      "  try: os.chmod('directory', 0o2775)\n"
      "  except OSError: pass\n"
      "over = True; thread.join(); os.chmod('directory', 0o2775); print('over')\n";
  const Outcome outcome = Finish(Orders({"python3", "-c", race}));
  EXPECT_EQ(outcome.out, "over\n") << outcome.err;
  EXPECT_EQ(ModeOf(file_), 0755u);
  EXPECT_EQ(ModeOf(directory_), 02775u);
}

TEST_F(SetGroupIdTest, CallersThatAreKilledMeanwhileHoldNobodyUp) {
  const Outcome outcome = Shell(
      "for i in 1 2 3 4 5 6 7 8; do chmod g+s directory & kill -9 $! 2>/dev/null; done; wait\n"
      "chmod g+s directory && echo done");
  EXPECT_EQ(outcome.out, "done\n") << outcome.err;
}

TEST_F(SetGroupIdTest, WithoutAProcOfItsOwnTheBitIsRefused) {
  RunningStage stage(Script("chmod g+s directory || echo refused; chmod g+w directory && echo done"),
                     [] { ::umount2("/proc", MNT_DETACH); });
  EXPECT_EQ(stage.Finish().out, "refused\ndone\n");
  EXPECT_EQ(ModeOf(directory_) & 02020, 0020u);
}

TEST(CommandLayerTest, LooksAtTheBitAndAtOpenat2Only) {
  const auto action_of = [](SetGroupId answer, int number, size_t argument, uint64_t mode) {
    seccomp_data call = {.nr = number, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = 1, .args = {}};
    call.args[argument] = mode;
    return support::Evaluate(MakeCommandLayer(answer), call).value_or(0);
  };
  for (const auto& [number, argument] : {std::pair(90, 1u), {91, 1u}, {268, 2u}, {452, 2u}}) {
    EXPECT_EQ(action_of(SetGroupId::kAsk, number, argument, 02755), SECCOMP_RET_USER_NOTIF) << number;
    EXPECT_EQ(action_of(SetGroupId::kRefuse, number, argument, 02755), SECCOMP_RET_ERRNO | uint32_t{EPERM}) << number;
    EXPECT_EQ(action_of(SetGroupId::kAsk, number, argument, 05755), SECCOMP_RET_ALLOW) << number;
  }
  EXPECT_EQ(action_of(SetGroupId::kAsk, SYS_openat2, 0, 0), SECCOMP_RET_ERRNO | uint32_t{ENOSYS});
  EXPECT_EQ(action_of(SetGroupId::kAsk, SYS_mkdir, 1, 02755), SECCOMP_RET_ALLOW);
}

}  // namespace
}  // namespace holdfast::sandbox
