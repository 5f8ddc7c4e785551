#include "exec_server/processes/retention.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/loop_runner.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class RetentionTest : public testing::Test {
 protected:
  loop::Callback Note(int number) {
    return [this, number] { expired_.push_back(number); };
  }
  bool RunUntilExpired(size_t count) {
    return support::RunUntil(loop_, [&] { return expired_.size() >= count; });
  }

  loop::EventLoop loop_;
  HeapTrim heap_{loop_};
  std::vector<int> expired_;
};

TEST_F(RetentionTest, ExpiresInTheOrderTheyCame) {
  Retention retention(loop_, heap_, 20ms, 1000);
  retention.Keep(1, Note(1));
  retention.Keep(1, Note(2));
  support::RunReady(loop_);
  EXPECT_THAT(expired_, IsEmpty());
  EXPECT_TRUE(RunUntilExpired(2));
  EXPECT_THAT(expired_, ElementsAre(1, 2));
}

TEST_F(RetentionTest, KeepsEachForItsWholeTime) {
  Retention retention(loop_, heap_, 40ms, 1000);
  const auto begin = std::chrono::steady_clock::now();
  retention.Keep(1, Note(1));
  EXPECT_TRUE(RunUntilExpired(1));
  retention.Keep(1, Note(2));
  EXPECT_TRUE(RunUntilExpired(2));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 80ms);
}

TEST_F(RetentionTest, MakesRoomFromTheOldest) {
  Retention retention(loop_, heap_, 1h, 10);
  for (int i = 1; i <= 5; ++i) retention.Keep(4, Note(i));
  EXPECT_THAT(expired_, IsEmpty());  // entries expire from the loop, never inside of Keep
  EXPECT_TRUE(RunUntilExpired(3));
  support::RunReady(loop_);
  EXPECT_THAT(expired_, ElementsAre(1, 2, 3));
}

TEST_F(RetentionTest, GivesUpOneThatIsLargerThanAllRoom) {
  Retention retention(loop_, heap_, 1h, 10);
  retention.Keep(11, Note(1));
  EXPECT_TRUE(RunUntilExpired(1));
}

TEST_F(RetentionTest, KeepsWhatIsHeldBeyondTheTime) {
  Retention retention(loop_, heap_, 1ms, 1000);
  const loop::Permit held = retention.KeepWhileHeld(1, Note(1));
  retention.Keep(1, Note(2));
  EXPECT_TRUE(RunUntilExpired(1));
  EXPECT_THAT(expired_, ElementsAre(2));
}

TEST_F(RetentionTest, MakesRoomFromTheOldestWhetherHeldOrNot) {
  Retention retention(loop_, heap_, 1h, 10);
  retention.Keep(4, Note(1));
  const loop::Permit second = retention.KeepWhileHeld(4, Note(2));
  retention.Keep(4, Note(3));
  const loop::Permit fourth = retention.KeepWhileHeld(4, Note(4));
  EXPECT_TRUE(RunUntilExpired(2));
  support::RunReady(loop_);
  EXPECT_THAT(expired_, ElementsAre(1, 2));
}

TEST_F(RetentionTest, CountsWhatIsReleasedNoLonger) {
  Retention retention(loop_, heap_, 1h, 10);
  for (int i = 1; i <= 5; ++i) const loop::Permit held = retention.KeepWhileHeld(9, Note(i));
  const loop::Permit last = retention.KeepWhileHeld(9, Note(6));
  support::RunReady(loop_);
  EXPECT_THAT(expired_, IsEmpty());
}

TEST_F(RetentionTest, LetsAHeldEntryBeReleasedWhileItExpires) {
  Retention retention(loop_, heap_, 1h, 10);
  loop::Permit held;
  held = retention.KeepWhileHeld(11, [&] {
    held = {};
    expired_.push_back(1);
  });
  EXPECT_TRUE(RunUntilExpired(1));
  const loop::Permit next = retention.KeepWhileHeld(10, Note(2));
  support::RunReady(loop_);
  EXPECT_THAT(expired_, ElementsAre(1));
}

TEST_F(RetentionTest, TakesMoreWhileItExpires) {
  Retention retention(loop_, heap_, 1ms, 1000);
  retention.Keep(1, [&] { retention.Keep(1, Note(2)); });
  EXPECT_TRUE(RunUntilExpired(1));
}

}  // namespace
}  // namespace holdfast::exec_server
