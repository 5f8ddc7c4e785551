#include "loop/task.h"

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.h"
#include "loop/event.h"
#include "loop/scope.h"

namespace holdfast::loop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Notes = std::vector<std::string>;

// A local variable that appends its name to the notes when it is destroyed.
class Local {
 public:
  Local(Notes& notes, std::string name) : notes_(notes), name_(std::move(name)) {}
  ~Local() { notes_.push_back("~" + name_); }
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;

 private:
  Notes& notes_;
  const std::string name_;
};

class TaskTest : public testing::Test {
 protected:
  Task<int> Wait(int value) {
    notes_.emplace_back("waits");
    co_await event_.Next();
    notes_.emplace_back("goes on");
    co_return value;
  }

  Task<> Note(Task<int> task) {
    const int value = co_await std::move(task);
    notes_.push_back(std::to_string(value));
  }

  Notes notes_;
  Event event_;
  Scope scope_;
};

TEST_F(TaskTest, RunsNothingBeforeItIsStarted) {
  {
    const Task<> task = Note(Wait(7));
  }
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(TaskTest, GoesOnWhereItWaited) {
  scope_.Start(Note(Wait(7)));
  EXPECT_THAT(notes_, ElementsAre("waits"));
  event_.Notify();
  EXPECT_THAT(notes_, ElementsAre("waits", "goes on", "7"));
  event_.Notify();
  EXPECT_EQ(notes_.size(), 3u);
}

TEST_F(TaskTest, YieldsWhatCanOnlyBeMoved) {
  static const auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  static const auto fail = []() -> Task<Result<std::unique_ptr<int>>> { co_return Fail(ErrorKind::kLimit, "full"); };
  static const auto use = [](Notes& notes) -> Task<> {
    auto made = co_await make();
    notes.push_back(std::to_string(*made));
    const auto failed = co_await fail();
    notes.push_back(failed.error().message);
  };
  scope_.Start(use(notes_));
  EXPECT_THAT(notes_, ElementsAre("7", "full"));
}

// The frame of a callee is destroyed before the next line of its caller, together with the arguments of the callee.
TEST_F(TaskTest, DestroysACalleeWhenItHasReturned) {
  static const auto callee = [](Notes& notes, std::unique_ptr<Local>) -> Task<> {
    const Local local(notes, "local");
    co_return;
  };
  static const auto caller = [](Notes& notes) -> Task<> {
    co_await callee(notes, std::make_unique<Local>(notes, "parameter"));
    notes.emplace_back("next line");
  };
  scope_.Start(caller(notes_));
  EXPECT_THAT(notes_, ElementsAre("~local", "~parameter", "next line"));
}

TEST_F(TaskTest, CallsAndReturnsWithoutAStack) {
  static const auto sum = [](auto self, int n) -> Task<int> {
    if (n == 0) co_return 0;
    co_return n + co_await self(self, n - 1);
  };
  static const auto count = [](Notes& notes) -> Task<> {
    int total = 0;
    for (int i = 0; i < 200'000; ++i) total += co_await sum(sum, 0) + 1;
    notes.push_back(std::to_string(total));
    notes.push_back(std::to_string(co_await sum(sum, 50'000)));
  };
  scope_.Start(count(notes_));
  EXPECT_THAT(notes_, ElementsAre("200000", "1250025000"));
}

TEST_F(TaskTest, EndsTheProgramWhenAnExceptionLeavesIt) {
  static const auto fail = []() -> Task<> {
    throw std::runtime_error("unexpected");
    co_return;
  };
  EXPECT_DEATH(scope_.Start(fail()), "no task throws");
}

// A source that resumed a frame inside await_suspend would run the frame before it is suspended.
TEST_F(TaskTest, EndsTheProgramWhenItIsResumedBeforeItWaits) {
  struct Hasty {
    bool await_ready() const { return false; }
    void await_suspend(TaskFrame frame) const { frame.Resume(); }
    void await_resume() const {}
  };
  static const auto wait = []() -> Task<> { co_await Hasty(); };
  EXPECT_DEATH(scope_.Start(wait()), "kWaiting");
}

class ScopeTest : public testing::Test {
 protected:
  Task<> Inner(std::string name) {
    const Local first(notes_, name + " inner 1"), second(notes_, name + " inner 2");
    co_await event_.Next();
    notes_.emplace_back("runs");
  }
  Task<> Outer(std::string name) {
    const Local local(notes_, name + " outer");
    co_await Inner(name);
    notes_.emplace_back("runs");
  }

  // Ends the scope that it runs in, and awaits `last` before it returns.
  Task<> End(Task<> last) {
    const Local local(notes_, "local");
    scope_.reset();
    notes_.emplace_back("ended");
    co_await std::move(last);
    notes_.emplace_back("behind a wait");
  }
  Task<> Return() { co_return; }

  Notes notes_;
  Event event_;
  std::optional<Scope> scope_{std::in_place};
};

TEST_F(ScopeTest, DestroysWhatWaitsFromTheLatestTaskAndTheInnermostFrame) {
  scope_->Start(Outer("a"));
  scope_->Start(Outer("b"));
  scope_.reset();
  EXPECT_THAT(notes_, ElementsAre("~b inner 2", "~b inner 1", "~b outer", "~a inner 2", "~a inner 1", "~a outer"));
  event_.Notify();
  EXPECT_EQ(notes_.size(), 6u);
}

TEST_F(ScopeTest, IsEmptyWhenItsTasksHaveEnded) {
  scope_->Start(Return());
  EXPECT_TRUE(scope_->empty());
  scope_->Start(Inner("a"));
  EXPECT_FALSE(scope_->empty());
  event_.Notify();
  EXPECT_TRUE(scope_->empty());
  EXPECT_THAT(notes_, ElementsAre("runs", "~a inner 2", "~a inner 1"));
}

TEST_F(ScopeTest, MayBeEndedByATaskThatWaitsAfterwards) {
  scope_->Start(End(Inner("a")));
  EXPECT_THAT(notes_, ElementsAre("ended", "~local")) << "the callee is not begun";
}

TEST_F(ScopeTest, MayBeEndedByATaskThatHasWaited) {
  static const auto end = [](auto& test) -> Task<> {
    const Local local(test.notes_, "local");
    co_await test.event_.Next();
    test.scope_.reset();
    test.notes_.emplace_back("ended");
    co_await test.event_.Next();
    test.notes_.emplace_back("behind a wait");
  };
  scope_->Start(end(*this));
  scope_->Start(Inner("other"));
  event_.Notify();
  EXPECT_THAT(notes_, ElementsAre("~other inner 2", "~other inner 1", "ended", "~local"));
  event_.Notify();
  EXPECT_EQ(notes_.size(), 4u);
}

// The value is there already, so the task would not have to wait. But the objects that it uses may have been destroyed
// with its scope.
TEST_F(ScopeTest, LetsNoWaitOfATaskThatEndedItReturn) {
  struct Ready {
    bool await_ready() const { return true; }
    void await_suspend(TaskFrame) const {}
    void await_resume() const {}
  };
  static const auto end = [](auto& test) -> Task<> {
    co_await Ready();
    test.notes_.emplace_back("ready");
    test.scope_.reset();
    co_await Ready();
    test.notes_.emplace_back("behind a wait");
  };
  scope_->Start(end(*this));
  EXPECT_THAT(notes_, ElementsAre("ready"));
}

// The source of the wait may have gone with the scope as well.
TEST_F(ScopeTest, BeginsNoWaitOfATaskThatEndedIt) {
  struct Source {
    bool await_ready() const { return false; }
    void await_suspend(TaskFrame) const { notes.emplace_back("begins"); }
    void await_resume() const {}

    Notes& notes;
  };
  static const auto end = [](auto& test) -> Task<> {
    test.scope_.reset();
    co_await Source{test.notes_};
  };
  scope_->Start(end(*this));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(ScopeTest, DoesNotReturnToTheCallerOfATaskThatEndedIt) {
  static const auto end = [](auto& test) -> Task<int> {
    test.scope_.reset();
    co_return 7;
  };
  static const auto call = [](auto& test) -> Task<> {
    const Local local(test.notes_, "caller");
    (void)co_await end(test);
    test.notes_.emplace_back("behind a wait");
  };
  scope_->Start(call(*this));
  EXPECT_THAT(notes_, ElementsAre("~caller"));
}

TEST_F(ScopeTest, MayBeEndedByATaskThatReturns) {
  static const auto end = [](auto& test) -> Task<> {
    test.scope_.reset();
    test.notes_.emplace_back("ended");
    co_return;
  };
  scope_->Start(end(*this));
  EXPECT_THAT(notes_, ElementsAre("ended"));
}

// The last request of a connection may own the object that owns the scope.
TEST_F(ScopeTest, MayBelongToSomethingThatItsTaskOwns) {
  struct Owner {
    Scope scope;
  };
  static const auto keep = [](Event& event, std::shared_ptr<Owner>) -> Task<> { co_await event.Next(); };
  const std::weak_ptr<Owner> watched = [&] {
    const auto owner = std::make_shared<Owner>();
    owner->scope.Start(keep(event_, owner));
    return owner;
  }();
  EXPECT_FALSE(watched.expired());
  event_.Notify();
  EXPECT_TRUE(watched.expired());
}

TEST_F(ScopeTest, MayBeEndedByATaskThatAnotherOneStarts) {
  static const auto start = [](auto& test) -> Task<> {
    const Local local(test.notes_, "starter");
    test.scope_->Start(test.End(test.Return()));
    test.notes_.emplace_back("started");
    co_await test.event_.Next();
    test.notes_.emplace_back("behind a wait");
  };
  scope_->Start(start(*this));
  EXPECT_THAT(notes_, ElementsAre("ended", "~local", "started", "~starter"));
}

TEST_F(ScopeTest, StartsNothingWhileItEnds) {
  Scope* const scope = &*scope_;
  static const auto late = [](auto& test, std::unique_ptr<Local>) -> Task<> {
    test.notes_.emplace_back("runs");
    co_return;
  };
  struct Starter {
    ~Starter() { start(); }
    std::function<void()> start;
  };
  const auto start = [this, scope] { scope->Start(late(*this, std::make_unique<Local>(notes_, "late"))); };
  static const auto wait = [](auto& test, std::unique_ptr<Starter>) -> Task<> {
    const Local local(test.notes_, "local");
    co_await test.event_.Next();
  };
  for (int i = 0; i < 2; ++i) scope_->Start(wait(*this, std::make_unique<Starter>(start)));
  scope_.reset();
  EXPECT_THAT(notes_, ElementsAre("~local", "~late", "~local", "~late"));
}

// A task may wake another one while it is destroyed, for example by the turn that it gives back.
TEST_F(ScopeTest, RunsNoTaskThatIsWokenWhileItEnds) {
  struct Waker {
    ~Waker() { event.Notify(); }
    Event& event;
  };
  static const auto wait = [](auto& test) -> Task<> {
    const Waker waker{test.event_};
    co_await test.event_.Next();
    test.notes_.emplace_back("runs");
  };
  for (int i = 0; i < 3; ++i) scope_->Start(wait(*this));
  scope_.reset();
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(ScopeTest, MayEndInATaskOfAnotherOne) {
  Scope other;
  static const auto end = [](auto& test) -> Task<> {
    co_await test.event_.Next();
    test.scope_.reset();
    test.notes_.emplace_back("goes on");
    co_await test.event_.Next();
    test.notes_.emplace_back("goes on");
  };
  other.Start(end(*this));
  scope_->Start(Inner("a"));
  event_.Notify();
  EXPECT_THAT(notes_, ElementsAre("~a inner 2", "~a inner 1", "goes on"));
  event_.Notify();
  EXPECT_EQ(notes_.size(), 4u);
}

TEST_F(ScopeTest, DestroysALongChainOfFrames) {
  static const auto nest = [](auto self, Event& event, std::shared_ptr<int> owned, int depth) -> Task<> {
    if (depth > 0) {
      co_await self(self, event, owned, depth - 1);
    } else {
      co_await event.Next();
    }
  };
  const auto owned = std::make_shared<int>(7);
  scope_->Start(nest(nest, event_, owned, 5000));
  EXPECT_GT(owned.use_count(), 5000);
  scope_.reset();
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace holdfast::loop
