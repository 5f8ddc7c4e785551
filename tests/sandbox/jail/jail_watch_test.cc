#include "sandbox/jail/jail_watch.h"

#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"
#include "sandbox/jail/lifeline.h"
#include "sys/pidfd.h"

namespace holdfast::sandbox {
namespace {

// IdleChild is a child that shares the memory of this process, so that hundreds of them are cheap.
class IdleChild {
 public:
  IdleChild() {
    const auto wait = [](void*) -> int {
      for (;;) ::pause();
    };
    pid_ = ::clone(wait, stack_.data() + stack_.size(), CLONE_VM | SIGCHLD, nullptr);
  }
  ~IdleChild() {
    if (!is_running()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  IdleChild(const IdleChild&) = delete;
  IdleChild& operator=(const IdleChild&) = delete;

  pid_t pid() const { return pid_; }
  bool is_running() const { return pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  alignas(16) std::array<std::byte, 16 << 10> stack_;
  pid_t pid_;
};

class JailWatchTest : public testing::Test {
 protected:
  JailWatchTest() { ::sigprocmask(SIG_BLOCK, nullptr, &mask_); }
  ~JailWatchTest() override { ::sigprocmask(SIG_SETMASK, &mask_, nullptr); }

  // Returns the status that the watch gives for a bubblewrap that ends before the inner stage is there.
  static int FollowToEarlyEnd(int status) {
    OwnedFd signals = JailWatch::BlockSignals();
    const pid_t bubblewrap = ::fork();
    if (bubblewrap == 0) ::_exit(status);
    JailWatch watch(bubblewrap, std::move(signals), {});
    EXPECT_EQ(watch.AwaitInner(), -1);
    return watch.AwaitEnd();
  }

  sigset_t mask_;
};

// The list of so many children is longer than a page.
TEST_F(JailWatchTest, WhoIsLeftInANamespaceIsEndedHoweverManyChildrenThereAre) {
  std::vector<IdleChild> before(700);
  const pid_t left = CloneFirstProcess([]() -> int {
    for (;;) ::pause();
  });
  if (left < 0) GTEST_SKIP() << "namespaces are not permitted here";
  EXPECT_EQ(FollowToEarlyEnd(1), 1);
  EXPECT_EQ(::waitpid(left, nullptr, WNOHANG), -1) << "killed and reaped";
  EXPECT_EQ(errno, ECHILD);
  for (const IdleChild& child : before) EXPECT_TRUE(child.is_running());
  if (::waitpid(left, nullptr, WNOHANG) == 0) ::kill(left, SIGKILL);
}

// What the kernel does until pid 1 is gone takes long, and the caller of the helper does not wait for it.
TEST_F(JailWatchTest, TheWordOfPid1AboutTheEndIsEnough) {
  OwnedFd signals = JailWatch::BlockSignals();
  auto line = MakeLifeline();
  ASSERT_TRUE(line) << line.error().message;
  const IdleChild first_process;  // it never ends by itself
  JailWatch watch(sys::Child{first_process.pid(), *sys::OpenPidfd(first_process.pid())}, std::move(signals),
                  {.complaints = {}, .report = {}, .lifeline = std::move(line->outer)});
  const Lifeline inner(line->inner.get());
  inner.Announce();
  inner.TellEnd(7);
  EXPECT_EQ(watch.AwaitEnd(), 7);
  EXPECT_TRUE(first_process.is_running());
}

// bubblewrap ends when the watch has read the word.
TEST_F(JailWatchTest, BubblewrapIsAwaitedWhateverPid1Says) {
  OwnedFd signals = JailWatch::BlockSignals();
  auto line = MakeLifeline();
  ASSERT_TRUE(line) << line.error().message;
  Lifeline(line->inner.get()).TellEnd(7);
  const pid_t bubblewrap = ::fork();
  if (bubblewrap == 0) {
    int unread = 1;
    while (unread > 0 && ::ioctl(line->inner.get(), SIOCOUTQ, &unread) == 0) ::sched_yield();
    ::_exit(3);
  }
  JailWatch watch(bubblewrap, std::move(signals), {.complaints = {}, .report = {}, .lifeline = std::move(line->outer)});
  EXPECT_EQ(watch.AwaitEnd(), 3);
}

// The pidfd of pid 1 is known already, and a process that has no descriptor left cannot open another.
TEST_F(JailWatchTest, AnAnnouncementOfAKnownPid1NeedsNoDescriptor) {
  OwnedFd signals = JailWatch::BlockSignals();
  auto line = MakeLifeline();
  ASSERT_TRUE(line) << line.error().message;
  const IdleChild first_process;
  JailWatch watch(sys::Child{first_process.pid(), *sys::OpenPidfd(first_process.pid())}, std::move(signals),
                  {.complaints = {}, .report = {}, .lifeline = std::move(line->outer)});
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {.rlim_cur = 4, .rlim_max = before.rlim_max};  // as many as the watch polls; all are in use
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Lifeline inner(line->inner.get());
  inner.Announce();
  inner.TellEnd(7);
  EXPECT_EQ(watch.AwaitEnd(), 7);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace holdfast::sandbox
