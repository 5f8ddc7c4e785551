#include "sys/exit_status.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

#include "sys/kept_status.h"
#include "sys/pidfd.h"

namespace holdfast::sys {
namespace {

TEST(ExitStatusTest, IsTheExitCodeOr128AndTheSignal) {
  EXPECT_EQ(ExitStatusOf(W_EXITCODE(0, 0)), 0);
  EXPECT_EQ(ExitStatusOf(W_EXITCODE(255, 0)), 255);
  EXPECT_EQ(ExitStatusOf(W_EXITCODE(0, SIGKILL)), 128 + SIGKILL);
  EXPECT_EQ(ExitStatusOf(W_EXITCODE(0, SIGSEGV) | WCOREFLAG), 128 + SIGSEGV);
}

TEST(StatusAfterReapingTest, TellsHowAReapedProcessEnded) {
  if (!KeepsExitStatus()) GTEST_SKIP() << "kernels before 6.15 do not keep it";
  for (const int signal : {0, SIGKILL}) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (signal != 0) (void)::raise(signal);
      ::_exit(7);
    }
    const auto pidfd = OpenPidfd(pid);
    ASSERT_TRUE(pidfd);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(raw::StatusAfterReaping(pidfd->get()), status);
    EXPECT_EQ(signal == 0 ? WEXITSTATUS(status) : WTERMSIG(status), signal == 0 ? 7 : signal);
  }
}

TEST(StatusAfterReapingTest, TellsNothingOfAProcessThatRuns) {
  const auto self = OpenPidfd(::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(raw::StatusAfterReaping(self->get()), -1);
}

TEST(KeepsExitStatusTest, LeavesNoChildBehind) {
  (void)KeepsExitStatus();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace holdfast::sys
