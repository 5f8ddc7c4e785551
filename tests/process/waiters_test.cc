#include "process/waiters.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::process {
namespace {

using testing::ElementsAre;

class WaitersTest : public testing::Test {
 protected:
  std::function<void()> Note(int number) {
    return [this, number] { calls_.push_back(number); };
  }

  Waiters waiters_;
  std::vector<int> calls_;
};

TEST_F(WaitersTest, CallsEachAtEveryEventInTheOrderTheyCame) {
  waiters_.Add(Note(1));
  waiters_.Add(Note(2));
  waiters_.Notify();
  waiters_.Notify();
  EXPECT_THAT(calls_, ElementsAre(1, 2, 1, 2));
}

TEST_F(WaitersTest, DoesNotCallWhatWasRemoved) {
  const Waiters::Token token = waiters_.Add(Note(1));
  waiters_.Add(Note(2));
  waiters_.Remove(token);
  waiters_.Notify();
  EXPECT_THAT(calls_, ElementsAre(2));
}

TEST_F(WaitersTest, LetsACallbackRemoveItself) {
  Waiters::Token token = 0;
  auto alive = std::make_shared<int>(7);
  token = waiters_.Add([&, alive] {
    waiters_.Remove(token);
    calls_.push_back(*alive);  // still there, although its entry is gone
  });
  waiters_.Add(Note(2));
  waiters_.Notify();
  waiters_.Notify();
  EXPECT_THAT(calls_, ElementsAre(7, 2, 2));
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(WaitersTest, LetsACallbackRemoveAnother) {
  Waiters::Token second = 0;
  waiters_.Add([&] { waiters_.Remove(second); });
  second = waiters_.Add(Note(2));
  waiters_.Add(Note(3));
  waiters_.Notify();
  EXPECT_THAT(calls_, ElementsAre(3));
}

TEST_F(WaitersTest, LetsACallbackRemoveAll) {
  waiters_.Add([&] { waiters_.RemoveAll(); });
  waiters_.Add(Note(2));
  waiters_.Notify();
  EXPECT_THAT(calls_, ElementsAre());
  EXPECT_TRUE(waiters_.empty());
}

TEST_F(WaitersTest, KeepsWhatACallbackAddsForTheNextEvent) {
  waiters_.Add([&] {
    if (calls_.empty()) waiters_.Add(Note(9));
    calls_.push_back(1);
  });
  waiters_.Notify();
  EXPECT_THAT(calls_, ElementsAre(1));
  waiters_.Notify();
  EXPECT_THAT(calls_, ElementsAre(1, 1, 9));
}

}  // namespace
}  // namespace holdfast::process
