#include "sandbox/jail/jail_watch.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"

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

}  // namespace
}  // namespace holdfast::sandbox
