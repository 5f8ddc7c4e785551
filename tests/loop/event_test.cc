#include "loop/event.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/scope.h"
#include "loop/task.h"
#include "support/loop_runner.h"

namespace holdfast::loop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class EventTest : public testing::Test {
 protected:
  Task<> Wait(std::string name) {
    co_await event_->Next();
    notes_.push_back(name);
  }

  // Waits until the event has happened `times` times, or until the delay has passed.
  Task<> WaitFor(int times, std::optional<std::chrono::milliseconds> delay) {
    Deadline deadline(loop_, delay);
    for (int seen = 0; seen < times; ++seen) {
      if (co_await event_->NextBefore(deadline) == Event::Woken::kByTime) {
        notes_.push_back("late after " + std::to_string(seen));
        co_return;
      }
    }
    notes_.emplace_back("in time");
  }

  bool RunUntilNoted(std::chrono::milliseconds patience = support::kPatience) {
    return support::RunUntil(loop_, [&] { return !notes_.empty(); }, patience);
  }

  EventLoop loop_;
  std::unique_ptr<Event> event_ = std::make_unique<Event>();
  std::vector<std::string> notes_;
  Scope scope_;
};

TEST_F(EventTest, WakesAllThatWaitInTheirOrder) {
  for (const char* name : {"a", "b", "c"}) scope_.Start(Wait(name));
  EXPECT_THAT(notes_, IsEmpty());
  event_->Notify();
  EXPECT_THAT(notes_, ElementsAre("a", "b", "c"));
}

TEST_F(EventTest, WakesATaskThatWaitsAgainTheNextTime) {
  static const auto repeat = [](auto& test) -> Task<> {
    for (;;) {
      co_await test.event_->Next();
      test.notes_.emplace_back("x");
    }
  };
  scope_.Start(repeat(*this));
  event_->Notify();
  EXPECT_EQ(notes_.size(), 1u);
  event_->Notify();
  EXPECT_EQ(notes_.size(), 2u);
}

TEST_F(EventTest, SkipsATaskThatAnEarlierOneDestroys) {
  std::optional<Scope> other(std::in_place);
  static const auto end = [](auto& test, std::optional<Scope>& ended) -> Task<> {
    co_await test.event_->Next();
    ended.reset();
  };
  scope_.Start(end(*this, other));
  other->Start(Wait("gone"));
  scope_.Start(Wait("other"));
  event_->Notify();
  EXPECT_THAT(notes_, ElementsAre("other"));
}

TEST_F(EventTest, MayBeDestroyedByATaskThatItWakes) {
  static const auto destroy = [](auto& test) -> Task<> {
    co_await test.event_->Next();
    test.event_.reset();
  };
  scope_.Start(destroy(*this));
  scope_.Start(Wait("woken at the same time"));
  event_->Notify();
  EXPECT_THAT(notes_, ElementsAre("woken at the same time"));
}

TEST_F(EventTest, LeavesTasksWaitingThatOutliveIt) {
  scope_.Start(Wait("a"));
  event_.reset();
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_FALSE(scope_.empty());
}

TEST_F(EventTest, ComesBeforeADeadline) {
  scope_.Start(WaitFor(2, 1h));
  event_->Notify();
  EXPECT_THAT(notes_, IsEmpty());
  event_->Notify();
  EXPECT_THAT(notes_, ElementsAre("in time"));
}

TEST_F(EventTest, ComesTooLateForADeadline) {
  scope_.Start(WaitFor(2, 20ms));
  event_->Notify();
  EXPECT_TRUE(RunUntilNoted());
  EXPECT_THAT(notes_, ElementsAre("late after 1"));
  event_->Notify();
  EXPECT_EQ(notes_.size(), 1u);
}

TEST_F(EventTest, IsNotAwaitedOnceTheDeadlineHasPassed) {
  scope_.Start(WaitFor(1, 0ms));
  EXPECT_THAT(notes_, ElementsAre("late after 0"));
}

TEST_F(EventTest, MayComeAtAnyTimeWithoutADelay) {
  scope_.Start(WaitFor(1, std::nullopt));
  EXPECT_FALSE(RunUntilNoted(20ms));
  event_->Notify();
  EXPECT_THAT(notes_, ElementsAre("in time"));
}

TEST_F(EventTest, MayComeInAnyNumberOfMilliseconds) {
  scope_.Start(WaitFor(1, std::chrono::milliseconds::max()));
  EXPECT_FALSE(RunUntilNoted(20ms));
  event_->Notify();
  EXPECT_THAT(notes_, ElementsAre("in time"));
}

// The wait is over when the task goes on, although its object lives to the end of the expression.
TEST_F(EventTest, MayComeAgainInTheExpressionThatWaitedForIt) {
  const auto note = [this](Event::Woken woken) {
    event_->Notify();
    notes_.emplace_back(woken == Event::Woken::kByTime ? "by time" : "by event");
  };
  static const auto wait = [](auto& test, const auto& noted) -> Task<> {
    Deadline deadline(test.loop_, 1ms);
    noted(co_await test.event_->NextBefore(deadline));
  };
  scope_.Start(wait(*this, note));
  EXPECT_TRUE(RunUntilNoted());
  EXPECT_THAT(notes_, ElementsAre("by time"));
}

// The timer of a deadline is destroyed with the task.
TEST_F(EventTest, WakesNoTaskByTimeThatIsGone) {
  {
    Scope ended;
    ended.Start(WaitFor(1, 1ms));
  }
  EXPECT_FALSE(RunUntilNoted(20ms));
}

}  // namespace
}  // namespace holdfast::loop
