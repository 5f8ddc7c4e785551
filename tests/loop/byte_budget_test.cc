#include "loop/byte_budget.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/event.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "support/loop_runner.h"

namespace holdfast::loop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Permit = ByteBudget::Permit;

constexpr auto kNever = 1h;

class ByteBudgetTest : public testing::Test {
 protected:
  ByteBudgetTest() { Make({.bytes = 100, .patience = kNever, .tenure = kNever, .tick = 5ms}); }

  void Make(const ByteBudget::Options& options) { budget_ = std::make_unique<ByteBudget>(loop_, options); }

  // Returns a permit that already holds bytes.
  Permit Holding(size_t bytes, Callback on_reclaim = {}) {
    Permit permit = budget_->Open(std::move(on_reclaim));
    permit.Resize(bytes);
    return permit;
  }

  // Appends the name to `told_` when the wish is granted, and the name with an exclamation mark when it is refused.
  void Await(const std::string& name, Permit& permit, size_t bytes) {
    permit.Await(bytes, [this, name](const Result<>& outcome) {
      told_.push_back(outcome ? name : name + "!");
      if (!outcome) EXPECT_EQ(outcome.error().kind, ErrorKind::kLimit);
    });
  }

  // Gets a permit for `bytes`, appends the name to `told_` as above, and holds the permit until the scope ends.
  Task<> Take(std::string name, size_t bytes) {
    const auto permit = co_await budget_->Take(bytes);
    told_.push_back(permit ? name : name + "!");
    if (permit) co_await never_.Next();
  }

  bool RunUntil(const std::function<bool()>& condition) { return support::RunUntil(loop_, condition); }

  EventLoop loop_;
  std::unique_ptr<ByteBudget> budget_;
  std::vector<std::string> told_;
  Event never_;
};

TEST_F(ByteBudgetTest, GivesWhatIsLeft) {
  Permit a = budget_->Open(), b = budget_->Open();
  EXPECT_TRUE(a.TryResize(60));
  EXPECT_FALSE(b.TryResize(41));
  EXPECT_EQ(b.bytes(), 0u);
  EXPECT_TRUE(b.TryResize(40));
  EXPECT_EQ(budget_->held(), 100u);
  EXPECT_TRUE(a.TryResize(10));
  EXPECT_TRUE(b.TryResize(90));
  EXPECT_EQ(budget_->held(), 100u);
}

TEST_F(ByteBudgetTest, TakesBackWhatADestroyedPermitHeld) {
  {
    Permit a = Holding(70);
    const Permit moved = std::move(a);
    EXPECT_EQ(moved.bytes(), 70u);
    EXPECT_EQ(budget_->held(), 70u);
  }
  EXPECT_EQ(budget_->held(), 0u);
}

TEST_F(ByteBudgetTest, CountsWhatIsHeldAlreadyWhateverRoomIsLeft) {
  Permit a = Holding(150), b = budget_->Open();
  EXPECT_EQ(budget_->held(), 150u);
  EXPECT_FALSE(b.TryResize(1));
  EXPECT_FALSE(a.TryResize(151));
  EXPECT_TRUE(a.TryResize(99));
  EXPECT_TRUE(b.TryResize(1));
}

TEST_F(ByteBudgetTest, GrantsAtOnceOrInTurn) {
  Permit a = budget_->Open(), b = budget_->Open(), c = budget_->Open();
  Await("a", a, 60);
  Await("b", b, 50);
  Await("c", c, 10);
  EXPECT_THAT(told_, ElementsAre("a"));
  a.Resize(0);
  EXPECT_THAT(told_, ElementsAre("a", "b", "c"));
  EXPECT_EQ(budget_->held(), 60u);
}

// Without this rule a wish for much would wait for ever, while wishes for little pass it.
TEST_F(ByteBudgetTest, LetsNoFreshPermitPassTheOnesThatWait) {
  Permit a = Holding(60), b = budget_->Open(), late = budget_->Open();
  Await("b", b, 50);
  EXPECT_FALSE(late.TryResize(1));
  a = {};
  EXPECT_THAT(told_, ElementsAre("b"));
  EXPECT_TRUE(late.TryResize(1));
}

// A permit that holds bytes gives them all back once it has what it waits for. If it had to wait for a fresh permit
// that waits for these bytes, neither of them would ever go on.
TEST_F(ByteBudgetTest, LetsHoldersPassAFreshPermitThatWantsMuch) {
  Permit fresh = budget_->Open(), growing = Holding(40), other = Holding(60);
  Await("fresh", fresh, 50);
  Await("growing", growing, 60);
  EXPECT_THAT(told_, IsEmpty());
  other.Resize(30);
  EXPECT_THAT(told_, ElementsAre("growing"));
  growing = {};
  EXPECT_THAT(told_, ElementsAre("growing", "fresh"));
}

// Without this rule permits that grow in small steps would keep all others waiting.
TEST_F(ByteBudgetTest, ServesWhatFitsInTheOrderItCame) {
  Permit fresh = budget_->Open(), growing = Holding(40), other = Holding(60);
  Await("fresh", fresh, 10);
  Await("growing", growing, 50);
  other.Resize(50);
  EXPECT_THAT(told_, ElementsAre("fresh"));
  other.Resize(40);
  EXPECT_THAT(told_, ElementsAre("fresh", "growing"));
}

// A permit that was asked to give up its bytes gets no more of them.
TEST_F(ByteBudgetTest, ForgetsTheWishOfAHolderThatIsAskedToGo) {
  Make({.bytes = 100, .patience = kNever, .tenure = 20ms, .tick = 5ms});
  bool asked = false;
  Permit large = Holding(70, [&] { asked = true; }), small = Holding(30), fresh = budget_->Open();
  Await("large", large, 80);
  Await("fresh", fresh, 10);
  EXPECT_TRUE(RunUntil([&] { return asked; }));
  small = {};
  EXPECT_THAT(told_, ElementsAre("fresh"));
}

TEST_F(ByteBudgetTest, RefusesAtOnceWhatCanNeverBe) {
  Permit a = budget_->Open();
  Await("a", a, 101);
  EXPECT_THAT(told_, ElementsAre("a!"));
}

TEST_F(ByteBudgetTest, RefusesAfterAWhile) {
  Make({.bytes = 100, .patience = 30ms, .tenure = kNever, .tick = 5ms});
  const Permit all = Holding(100, [] { ADD_FAILURE() << "it may stay"; });
  Permit a = budget_->Open(), b = budget_->Open();
  Await("a", a, 1);
  Await("b", b, 2);
  EXPECT_TRUE(RunUntil([&] { return told_.size() == 2; }));
  EXPECT_THAT(told_, ElementsAre("a!", "b!"));
  EXPECT_EQ(budget_->held(), 100u);
}

// Two clients with half a message each hold all bytes together, and both need more. Without help neither would go on.
TEST_F(ByteBudgetTest, EndsADeadlockAmongHolders) {
  Make({.bytes = 100, .patience = kNever, .tenure = 20ms, .tick = 5ms});
  Permit small, large;
  small = Holding(40, [&] { ADD_FAILURE() << "the other holds more"; });
  large = Holding(60, [&] { large = {}; });
  Await("small", small, 50);
  Await("large", large, 70);
  EXPECT_TRUE(RunUntil([&] { return !told_.empty(); }));
  EXPECT_THAT(told_, ElementsAre("small"));
}

TEST_F(ByteBudgetTest, ReclaimsFromTheLargestUntilThereWouldBeRoom) {
  Make({.bytes = 100, .patience = kNever, .tenure = 20ms, .tick = 5ms});
  std::vector<std::string> asked;
  Permit a, b, c;
  a = Holding(20, [&] { asked.emplace_back("a"); });
  b = Holding(50, [&] { asked.emplace_back("b"); });
  c = Holding(30, [&] { asked.emplace_back("c"); });
  Permit fresh = budget_->Open();
  Await("fresh", fresh, 70);
  EXPECT_TRUE(RunUntil([&] { return asked.size() == 2; }));
  EXPECT_FALSE(support::RunUntil(loop_, [&] { return asked.size() > 2; }, 50ms)) << "80 are on their way";
  EXPECT_THAT(asked, ElementsAre("b", "c"));
  EXPECT_THAT(told_, IsEmpty());
  b = {};
  c = {};
  EXPECT_THAT(told_, ElementsAre("fresh"));
}

TEST_F(ByteBudgetTest, ReclaimsNothingWhileNobodyWaits) {
  Make({.bytes = 100, .patience = kNever, .tenure = 1ms, .tick = 1ms});
  bool asked = false;
  Permit all = Holding(100, [&] { asked = true; }), fresh = budget_->Open();
  EXPECT_FALSE(fresh.TryResize(1));
  EXPECT_FALSE(support::RunUntil(loop_, [&] { return asked; }, 50ms));
}

TEST_F(ByteBudgetTest, ForgetsTheWishOfAPermitThatIsGone) {
  Permit all = Holding(100), other = budget_->Open();
  {
    Permit gone = budget_->Open();
    Await("gone", gone, 10);
    Await("other", other, 10);
  }
  all = {};
  EXPECT_THAT(told_, ElementsAre("other"));
}

TEST_F(ByteBudgetTest, GoesOnWhenAPermitIsGivenBackAtOnce) {
  Permit all = Holding(100);
  std::vector<Permit> permits;
  for (int i = 0; i < 1000; ++i) permits.push_back(budget_->Open());
  for (Permit& permit : permits) {
    permit.Await(100, [this, &permit](const Result<>&) {
      told_.emplace_back("x");
      permit = {};
    });
  }
  all = {};
  EXPECT_EQ(told_.size(), 1000u);
  EXPECT_EQ(budget_->held(), 0u);
}

TEST_F(ByteBudgetTest, MayEndBeforeItsPermits) {
  Permit a = Holding(100);
  const auto waiting = std::make_shared<Permit>(budget_->Open());
  waiting->Await(100, [waiting](const Result<>&) { ADD_FAILURE(); });  // the callback owns the permit that owns it
  const std::weak_ptr<Permit> watched = waiting;
  budget_.reset();
  EXPECT_TRUE(a.TryResize(1000));
  a = {};
  EXPECT_EQ(watched.use_count(), 1) << "nothing but this test holds it";
}

TEST_F(ByteBudgetTest, MayEndInACallback) {
  Permit all = Holding(100), a = budget_->Open(), b = budget_->Open();
  a.Await(10, [this](const Result<>&) {
    told_.emplace_back("a");
    budget_.reset();
  });
  Await("b", b, 10);
  all = {};
  EXPECT_THAT(told_, ElementsAre("a"));
}

TEST_F(ByteBudgetTest, LetsTasksWaitForRoom) {
  Scope scope;
  {
    Scope first;
    first.Start(Take("a", 70));
    scope.Start(Take("b", 50));
    scope.Start(Take("never", 101));
    EXPECT_THAT(told_, ElementsAre("a", "never!"));
  }
  EXPECT_TRUE(RunUntil([&] { return told_.size() == 3; }));
  EXPECT_THAT(told_, ElementsAre("a", "never!", "b"));
  EXPECT_EQ(budget_->held(), 50u);
}

// The clients of both tasks are gone. The end of the first makes room for the second, which must not work in vain.
TEST_F(ByteBudgetTest, ResumesNoTaskThatEndsInTheSameTurn) {
  Scope rest;
  {
    Scope second, first;  // the first ends before the second
    first.Start(Take("first", 100));
    second.Start(Take("second", 100));
    rest.Start(Take("third", 100));
  }
  EXPECT_TRUE(RunUntil([&] { return told_.size() > 1; }));
  EXPECT_THAT(told_, ElementsAre("first", "third"));
}

TEST_F(ByteBudgetTest, ForgetsTheWishOfATaskThatIsGone) {
  Permit all = Holding(100), other = budget_->Open(), growing = Holding(0);
  static const auto grow = [](std::vector<std::string>& told, Permit& permit) -> Task<> {
    (void)co_await permit.Await(20);
    told.emplace_back("gone");
  };
  {
    Scope scope;
    scope.Start(Take("gone", 10));
    scope.Start(grow(told_, growing));
    Await("other", other, 10);
  }
  all = {};
  EXPECT_THAT(told_, ElementsAre("other"));
  EXPECT_EQ(budget_->held(), 10u);
}

TEST_F(ByteBudgetTest, MayLoseAPermitThatATaskWaitsFor) {
  const Permit all = Holding(100);
  Permit lost = budget_->Open();
  static const auto grow = [](std::vector<std::string>& told, Permit& permit) -> Task<> {
    (void)co_await permit.Await(20);
    told.emplace_back("goes on");
  };
  Scope scope;
  scope.Start(grow(told_, lost));
  lost = {};
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ByteBudgetTest, MayLoseAPermitBeforeItsTaskGoesOn) {
  Permit all = Holding(100), lost = budget_->Open();
  static const auto grow = [](std::vector<std::string>& told, Permit& permit) -> Task<> {
    (void)co_await permit.Await(20);
    told.emplace_back("goes on");
  };
  Scope scope;
  scope.Start(grow(told_, lost));
  all = {};
  EXPECT_EQ(budget_->held(), 20u);
  lost = {};
  EXPECT_FALSE(support::RunUntil(loop_, [&] { return !told_.empty(); }, 20ms));
}

TEST_F(ByteBudgetTest, MayEndBeforeATaskThatWaits) {
  const Permit all = Holding(100);
  Scope scope;
  scope.Start(Take("a", 10));
  budget_.reset();
  EXPECT_THAT(told_, IsEmpty());
}

TEST(PermitTest, OfNoBudgetLacksNoRoom) {
  Permit permit;
  EXPECT_TRUE(permit.TryResize(SIZE_MAX));
  permit.Resize(1);
  bool granted = false;
  permit.Await(SIZE_MAX, [&](const Result<>& outcome) { granted = outcome.has_value(); });
  EXPECT_TRUE(granted);
}

}  // namespace
}  // namespace holdfast::loop
