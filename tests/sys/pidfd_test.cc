#include "sys/pidfd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "sys/exit_status.h"
#include "sys/kept_status.h"

namespace holdfast::sys {
namespace {

constexpr int kPatienceMs = 10'000;

// Starts a child that exits with `code`, or that waits for a signal if `code` is negative.
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

TEST(PidfdTest, KnowsWhetherAProcessHasEnded) {
  const Child child = Fork(-1);
  EXPECT_FALSE(HasEnded(child.pidfd.get()));
  ASSERT_TRUE(KillAndAwaitEnd(child.pidfd.get()));
  EXPECT_TRUE(HasEnded(child.pidfd.get()));
  EXPECT_EQ(TryReap(child.pidfd.get()), Ending::kOtherwise);
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
  EXPECT_EQ(TryReap(child.pidfd.get()), KeepsExitStatus() ? Ending::kExitedCleanly : Ending::kOtherwise);
}

// The server lets the kernel reap its children while it looks for processes that killed keepers left behind. A keeper
// that ends cleanly meanwhile must not be mistaken for a killed one.
TEST(PidfdTest, KnowsTheEndOfAChildThatTheKernelHasReaped) {
  if (!KeepsExitStatus()) GTEST_SKIP() << "kernels before 6.15 forget it";
  struct sigaction by_kernel = {}, before = {};
  by_kernel.sa_flags = SA_NOCLDWAIT;
  ASSERT_EQ(::sigaction(SIGCHLD, &by_kernel, &before), 0);
  // The child waits for the end of a pipe, because a pidfd cannot be opened once the child has ended.
  const auto ending_with = [](int code) {
    int held[2];
    EXPECT_EQ(::pipe(held), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      char byte;
      ::close(held[1]);
      (void)!::read(held[0], &byte, 1);
      ::_exit(code);
    }
    const Child child{pid, *OpenPidfd(pid)};
    ::close(held[0]);
    ::close(held[1]);
    return AwaitEnd(child);
  };
  EXPECT_EQ(ending_with(0), Ending::kExitedCleanly);
  EXPECT_EQ(ending_with(3), Ending::kOtherwise);
  ::sigaction(SIGCHLD, &before, nullptr);
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
    // With this limit poll(2) refuses every descriptor.
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

TEST(PidfdTest, TakesADescriptorOfAProcess) {
  const auto self = OpenPidfd(::getpid());
  ASSERT_TRUE(self);
  const OwnedFd taken = TakeFd(self->get(), self->get());
  ASSERT_TRUE(taken.is_open());
  EXPECT_NE(taken.get(), self->get());
  EXPECT_EQ(::fcntl(taken.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(TakeFd(self->get(), 1 << 20).is_open());
  EXPECT_EQ(errno, EBADF);
}

// The first thread goes on.
TEST(PidfdTest, KnowsWhetherAThreadHasEnded) {
  constexpr unsigned of_thread = 0x80;  // PIDFD_THREAD
  const OwnedFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::gettid(), of_thread)));
  if (!self.is_open()) GTEST_SKIP() << "before Linux 6.9";
  std::latch opened(1);
  std::promise<pid_t> number;
  std::thread thread([&] {
    number.set_value(::gettid());
    opened.wait();
  });
  const auto pidfd = OpenThreadPidfd(number.get_future().get(), ::getpid());
  opened.count_down();
  thread.join();
  ASSERT_TRUE(pidfd);
  pollfd ended{pidfd->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, kPatienceMs), 1);
}

}  // namespace
}  // namespace holdfast::sys
