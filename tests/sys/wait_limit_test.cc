#include "sys/wait_limit.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

using namespace std::chrono_literals;

// A pipe that nobody writes to. Reading it blocks.
class WaitLimitTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  void TearDown() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  ssize_t Read() const {
    char byte;
    return ::read(ends_[0], &byte, 1);
  }

  int ends_[2] = {-1, -1};
};

TEST_F(WaitLimitTest, EndsACallThatWouldBlockForEver) {
  const auto limit = WaitLimit::Create(1ms);
  ASSERT_TRUE(limit);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ((*limit)->Call([this] { return Read(); }), -1);
    EXPECT_EQ(errno, EINTR);
  }
}

TEST_F(WaitLimitTest, EndsACallThatBeginsAfterTheTimeIsOver) {
  const auto limit = WaitLimit::Create(1ms);
  ASSERT_TRUE(limit);
  const auto call = [this] {
    const auto end = std::chrono::steady_clock::now() + 3ms;
    while (std::chrono::steady_clock::now() < end) continue;
    return Read();
  };
  EXPECT_EQ((*limit)->Call(call), -1);
  EXPECT_EQ(errno, EINTR);
}

// A futex with priority inheritance. The kernel repeats the wait for it after every signal.
class HeldFutex {
 public:
  HeldFutex() : holder_([this] { Hold(); }) { is_held_.wait(false); }
  ~HeldFutex() {
    ends_ = true;
    ends_.notify_one();
    holder_.join();
  }
  long Take(WaitLimit& limit) {
    return limit.CallRepeated(SYS_futex, reinterpret_cast<long>(&word_), FUTEX_LOCK_PI, 0, 0);
  }

 private:
  void Hold() {
    ::syscall(SYS_futex, &word_, FUTEX_LOCK_PI, 0, nullptr);
    is_held_ = true;
    is_held_.notify_one();
    ends_.wait(false);
    ::syscall(SYS_futex, &word_, FUTEX_UNLOCK_PI, 0, nullptr);
  }

  int word_ = 0;
  std::atomic<bool> is_held_ = false, ends_ = false;
  std::thread holder_;
};

TEST_F(WaitLimitTest, EndsACallThatTheKernelRepeatsAfterASignal) {
  HeldFutex futex;
  const auto limit = WaitLimit::Create(1ms);
  ASSERT_TRUE(limit);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(futex.Take(**limit), -EINTR);
}

TEST_F(WaitLimitTest, ReturnsWhatAQuickCallReturnsThatTheKernelWouldRepeat) {
  const auto limit = WaitLimit::Create(1h);
  ASSERT_TRUE(limit);
  EXPECT_EQ((*limit)->CallRepeated(SYS_getppid, 0, 0, 0, 0), ::getppid());
  EXPECT_EQ((*limit)->CallRepeated(SYS_fcntl, ends_[0], F_GETFD, 0, 0), FD_CLOEXEC);
  EXPECT_EQ((*limit)->CallRepeated(SYS_fcntl, -1, F_GETFD, 0, 0), -EBADF);
}

TEST_F(WaitLimitTest, ReturnsWhatAQuickCallReturns) {
  const auto limit = WaitLimit::Create(1h);
  ASSERT_TRUE(limit);
  ASSERT_EQ(::write(ends_[1], "x", 1), 1);
  EXPECT_EQ((*limit)->Call([this] { return Read(); }), 1);
}

TEST_F(WaitLimitTest, DoesNotInterruptOtherThreads) {
  const auto limit = WaitLimit::Create(1ms);
  ASSERT_TRUE(limit);
  ssize_t other_read = 0;
  std::thread other([&] { other_read = Read(); });
  int second[2];
  ASSERT_EQ(::pipe2(second, O_CLOEXEC), 0);
  char byte;
  for (int i = 0; i < 5; ++i) EXPECT_EQ((*limit)->Call([&] { return ::read(second[0], &byte, 1); }), -1);
  EXPECT_EQ(::write(ends_[1], "x", 1), 1);
  other.join();
  EXPECT_EQ(other_read, 1);
  ::close(second[0]);
  ::close(second[1]);
}

TEST_F(WaitLimitTest, IsRefusedIfTheUserMayHaveNoFurtherTimer) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_SIGPENDING, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &none), 0);
  EXPECT_FALSE(WaitLimit::Create(1ms));
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &before), 0);
}

}  // namespace
}  // namespace holdfast::sys
