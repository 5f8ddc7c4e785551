#include "loop/sleep.h"

#include <chrono>

#include <gtest/gtest.h>

#include "loop/scope.h"
#include "support/loop_runner.h"

namespace holdfast::loop {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Task<> Note(EventLoop& loop, std::chrono::nanoseconds time, bool& ended) {
  co_await Sleep(loop, time);
  ended = true;
}

TEST(SleepTest, LastsAtLeastForTheGivenTime) {
  EventLoop loop;
  Scope scope;
  bool ended = false;
  const auto start = Clock::now();
  scope.Start(Note(loop, 30ms + 1ns, ended));
  EXPECT_TRUE(support::RunUntil(loop, [&] { return ended; }));
  EXPECT_GE(Clock::now() - start, 30ms + 1ns);
}

TEST(SleepTest, EndsAtOnceWhenThereIsNoTimeToWaitFor) {
  EventLoop loop;
  Scope scope;
  for (const auto time : {0ms, -5ms}) {
    bool ended = false;
    scope.Start(Note(loop, time, ended));
    EXPECT_TRUE(ended);
  }
}

}  // namespace
}  // namespace holdfast::loop
