#include "sys/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

constexpr int kPatienceMs = 10'000;

// A child that exits with `code`, or waits for a signal when it is negative.
Child Fork(int code) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (code < 0) ::pause();
    ::_exit(code);
  }
  return {pid, OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
}

Ending AwaitEnd(const Child& child) {
  pollfd ended = {child.pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, kPatienceMs), 1);
  return TryReap(child.pidfd.get());
}

TEST(PidfdTest, TellsACleanExitFromOthers) {
  EXPECT_EQ(AwaitEnd(Fork(0)), Ending::kExitedCleanly);
  EXPECT_EQ(AwaitEnd(Fork(1)), Ending::kOtherwise);
}

TEST(PidfdTest, SignalsTheChild) {
  const Child child = Fork(-1);
  EXPECT_EQ(TryReap(child.pidfd.get()), Ending::kStillRunning);
  SendSignal(child.pidfd.get(), SIGKILL);
  EXPECT_EQ(AwaitEnd(child), Ending::kOtherwise);
}

TEST(PidfdTest, ReapsOnce) {
  const Child child = Fork(0);
  EXPECT_EQ(AwaitEnd(child), Ending::kExitedCleanly);
  EXPECT_EQ(::waitpid(child.pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(TryReap(child.pidfd.get()), Ending::kOtherwise);
}

TEST(PidfdTest, TakesASignalForAChildThatIsGone) {
  const Child child = Fork(0);
  EXPECT_EQ(AwaitEnd(child), Ending::kExitedCleanly);
  SendSignal(child.pidfd.get(), SIGKILL);
}

}  // namespace
}  // namespace holdfast::sys
