#include "sys/wait_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

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
