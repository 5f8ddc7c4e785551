#include "sys/pidfd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>

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
  auto pidfd = OpenPidfd(pid);
  EXPECT_TRUE(pidfd) << pidfd.error().message;
  return {pid, pidfd ? *std::move(pidfd) : OwnedFd()};
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

TEST(PidfdTest, OpensWhatIsThereAndIsNotInherited) {
  const Child child = Fork(0);
  EXPECT_EQ(::fcntl(child.pidfd.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(AwaitEnd(child), Ending::kExitedCleanly);
  const auto gone = OpenPidfd(child.pid);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "pidfd_open " + std::to_string(child.pid) + ": No such process");
}

TEST(PidfdTest, WaitsForTheEndOfWhatItKills) {
  const Child child = Fork(-1);
  EXPECT_TRUE(KillAndAwaitEnd(child.pidfd.get()));
  EXPECT_EQ(TryReap(child.pidfd.get()), Ending::kOtherwise);
  EXPECT_TRUE(KillAndAwaitEnd(child.pidfd.get())) << "of one that is gone";
}

TEST(PidfdTest, DoesNotTryForEverToWait) {
  const Child child = Fork(-1);
  const pid_t other = ::fork();
  if (other == 0) {
    // poll(2) refuses every descriptor then.
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    ::alarm(kPatienceMs / 1000);
    ::_exit(KillAndAwaitEnd(child.pidfd.get()) ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(AwaitEnd(child), Ending::kOtherwise) << "killed all the same";
}

}  // namespace
}  // namespace holdfast::sys
