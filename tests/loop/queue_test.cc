#include "loop/queue.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/event.h"
#include "loop/permit.h"
#include "loop/scope.h"
#include "loop/task.h"

namespace holdfast::loop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A source of turns, of which each letter has one: one task at a time holds it.
class Turns {
 public:
  Task<Permit> Enter(char letter) {
    Waiting::Place place(waiting_, letter);
    Serve();
    co_return co_await place;
  }

  const std::string& taken() const { return taken_; }
  std::string waiting() const {
    std::string letters;
    waiting_.ForEach([&](char letter) { letters += letter; });
    return letters;
  }

 private:
  using Waiting = Queue<char, Permit>;

  void Serve() {
    waiting_.Serve([this](char letter) -> std::optional<Permit> {
      if (taken_.contains(letter)) return std::nullopt;
      taken_ += letter;
      return permits_.Issue(static_cast<uint64_t>(letter));
    });
  }

  void Leave(uint64_t letter) {
    taken_.erase(taken_.find(static_cast<char>(letter)), 1);
    Serve();
  }

  std::string taken_;
  Waiting waiting_;
  Permits permits_{[this](uint64_t letter) { Leave(letter); }};
};

class QueueTest : public testing::Test {
 protected:
  // Holds the turn until the event happens.
  Task<> Hold(char letter, std::string name) {
    const Permit turn = co_await turns_->Enter(letter);
    notes_.push_back(name);
    co_await event_.Next();
  }
  // Gives the turn back at once.
  Task<> Pass(char letter, std::string name) {
    const Permit turn = co_await turns_->Enter(letter);
    notes_.push_back(name);
  }

  std::vector<std::string> notes_;
  Event event_;
  std::unique_ptr<Turns> turns_ = std::make_unique<Turns>();
  std::optional<Scope> scope_{std::in_place};
};

TEST_F(QueueTest, AnswersAtOnceWhatItCan) {
  scope_->Start(Hold('a', "a1"));
  scope_->Start(Hold('a', "a2"));
  scope_->Start(Hold('b', "b1"));
  EXPECT_THAT(notes_, ElementsAre("a1", "b1"));
  EXPECT_EQ(turns_->waiting(), "a");
}

TEST_F(QueueTest, AnswersTheRestInTheOrderTheyCame) {
  scope_->Start(Hold('a', "a1"));
  for (const char* name : {"a2", "a3", "a4"}) scope_->Start(Pass('a', name));
  event_.Notify();
  EXPECT_THAT(notes_, ElementsAre("a1", "a2", "a3", "a4"));
  EXPECT_EQ(turns_->taken(), "");
  EXPECT_TRUE(scope_->empty());
}

TEST_F(QueueTest, ForgetsTheRequestOfATaskThatIsGone) {
  Scope other;
  other.Start(Hold('a', "a1"));
  scope_->Start(Hold('a', "gone"));
  other.Start(Hold('a', "a2"));
  scope_.reset();
  EXPECT_EQ(turns_->waiting(), "a");
  event_.Notify();
  EXPECT_THAT(notes_, ElementsAre("a1", "a2"));
}

// The turn that the first task gives back goes to the second task, which is being destroyed too and gives it back
// again.
TEST_F(QueueTest, LosesNothingThatATaskWasGivenWhileItWasEnding) {
  scope_->Start(Hold('a', "a1"));
  scope_->Start(Hold('b', "b1"));
  scope_->Start(Pass('b', "b2"));
  scope_->Start(Pass('a', "a2"));
  scope_.reset();
  EXPECT_THAT(notes_, ElementsAre("a1", "b1"));
  EXPECT_EQ(turns_->taken(), "");
  EXPECT_EQ(turns_->waiting(), "");
}

TEST_F(QueueTest, DoesNotGrowTheStackWhenAnswersComeBackAtOnce) {
  static const auto pass = [](Turns& turns, std::set<const void*>& stack) -> Task<> {
    const Permit turn = co_await turns.Enter('a');
    stack.insert(__builtin_frame_address(0));
  };
  std::set<const void*> stack;
  scope_->Start(Hold('a', "first"));
  for (int i = 0; i < 100; ++i) scope_->Start(pass(*turns_, stack));
  event_.Notify();
  EXPECT_TRUE(scope_->empty());
  EXPECT_EQ(stack.size(), 1u) << "all have run at the same depth";
}

TEST_F(QueueTest, MayBeDestroyedByATaskThatItResumes) {
  static const auto destroy = [](auto& test) -> Task<> {
    const Permit turn = co_await test.turns_->Enter('a');
    test.turns_.reset();
    test.notes_.emplace_back("destroyed");
  };
  scope_->Start(Hold('a', "a1"));
  scope_->Start(destroy(*this));
  scope_->Start(Pass('a', "never"));
  event_.Notify();
  EXPECT_THAT(notes_, ElementsAre("a1", "destroyed"));
}

}  // namespace
}  // namespace holdfast::loop
