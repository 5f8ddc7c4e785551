// Tests of a start in which another program makes, removes or replaces a protected name, as the sandbox of another
// product does that has placeholders of its own. A tracer stops the helper where it has made its plan and starts the
// next process, so that the change comes at that moment.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/sandbox_workspace.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

pid_t ForkTraced() {
  const pid_t child = ::fork();
  if (child == 0) ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  return child;
}

// Returns whether the process has stopped, and leaves the status of one that has ended to the test.
bool AwaitStop(pid_t pid, int& status) {
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WSTOPPED | WNOWAIT) < 0) return false;
  if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) return false;
  return ::waitpid(pid, &status, 0) == pid;
}

bool StartsProcess(pid_t pid) {
  user_regs_struct registers = {};
  ::ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
  const auto call = static_cast<long>(registers.orig_rax);
  const bool is_entry = static_cast<long>(registers.rax) == -ENOSYS;
  return is_entry && (call == SYS_clone || call == SYS_clone3 || call == SYS_fork || call == SYS_vfork);
}

// Calls `change` whenever the process is about to start another one, `times` times at most.
void AtStarts(pid_t pid, int times, const std::function<void()>& change) {
  int status = 0;
  bool is_set_up = false;
  for (int signal = 0; times > 0 && AwaitStop(pid, status);) {
    if (!is_set_up) ::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACESYSGOOD);
    is_set_up = true;
    const bool is_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    if (is_call && StartsProcess(pid)) {
      change();
      if (--times == 0) break;
    }
    signal = is_call || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    ::ptrace(PTRACE_SYSCALL, pid, nullptr, signal);
  }
  ::ptrace(PTRACE_DETACH, pid, nullptr, 0);  // fails for a process that has ended
}

class SandboxRetryTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  std::string In(const std::string& name) const { return workspace_.path() + "/" + name; }

  Outcome InsideWith(int times, const std::function<void()>& change) {
    Program program(workspace_.InsideWords("echo ran; mkdir .git .codex .agents 2> /dev/null; ls -A"), -1, ForkTraced);
    AtStarts(program.pid(), times, [&] {
      change();
      ++changes_;
    });
    return program.Finish();
  }
  void TearDown() override {
    if (!IsSkipped()) EXPECT_GT(changes_, 0) << "then nothing was tried";
  }

  SandboxWorkspace workspace_{GetParam()};
  int changes_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, SandboxRetryTest, testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap})),
                         CaseName);

TEST_P(SandboxRetryTest, ANameThatVanishesIsNoHindrance) {
  ASSERT_EQ(workspace_.Outside("mkdir .git").status, 0);
  const Outcome outcome = InsideWith(1, [&] { fs::remove(In(".git")); });
  EXPECT_THAT(outcome.out, HasSubstr("ran\n")) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(fs::is_empty(workspace_.path())) << "no command has made a protected name";
}

TEST_P(SandboxRetryTest, ANameThatAppearsAsAFileOfAnotherKindIsNoHindrance) {
  const Outcome outcome = InsideWith(1, [&] { ASSERT_EQ(workspace_.Outside("echo theirs > .codex").status, 0); });
  EXPECT_THAT(outcome.out, HasSubstr("ran\n")) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(fs::file_size(In(".codex")), 7u);
}

// There is one more attempt, and not more, because the names could change for ever.
TEST_P(SandboxRetryTest, ANameThatIsReplacedAgainAndAgainStopsTheStart) {
  if (GetParam().means != Means::kNative) GTEST_SKIP() << "bubblewrap is started before its mounts are noted";
  ASSERT_EQ(workspace_.Outside("mkdir .git").status, 0);
  const Outcome outcome = InsideWith(
      20, [&] { ASSERT_EQ(workspace_.Outside("mkdir other && mv -T .git \"old-$$\" && mv other .git").status, 0); });
  EXPECT_THAT(outcome.out, Not(HasSubstr("ran")));
  EXPECT_THAT(outcome.err, HasSubstr(".git: it has been replaced in the meantime"));
  EXPECT_NE(outcome.status, 0);
}

}  // namespace
}  // namespace holdfast::support
