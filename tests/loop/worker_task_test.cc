// Tests of tasks that wait for a worker.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "support/eventually.h"
#include "support/loop_runner.h"

namespace holdfast::loop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using DiedOn = std::shared_ptr<std::atomic<std::thread::id>>;

// A witness stores the id of the thread that destroys it.
class Witness {
 public:
  explicit Witness(DiedOn died_on) : died_on_(std::move(died_on)) {}
  Witness(Witness&&) noexcept = default;
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (died_on_) *died_on_ = std::this_thread::get_id();
  }

 private:
  DiedOn died_on_;
};

class WorkerTaskTest : public testing::Test {
 protected:
  ~WorkerTaskTest() override { Open(); }

  static DiedOn Nowhere() { return std::make_shared<std::atomic<std::thread::id>>(); }

  void Open() {
    *gate_ = true;
    gate_->notify_all();
  }

  // Waits for a job that returns a witness when the gate is opened.
  Task<> WaitAtGate(DiedOn work_died_on, DiedOn result_died_on) {
    auto work = [gate = gate_, started = started_, witness = Witness(std::move(work_died_on)),
                 result = std::move(result_died_on)] {
      *started = true;
      gate->wait(false);
      return Witness(result);
    };
    const Witness result = co_await pool_->Do(std::move(work));
    notes_.emplace_back("goes on");
  }

  Task<> KeepAtGate(std::shared_ptr<Witness> kept) {
    auto work = [gate = gate_, started = started_] {
      *started = true;
      gate->wait(false);
    };
    co_await pool_->Do(std::move(work), std::move(kept));
  }

  bool RunUntilNoted() {
    return support::RunUntil(loop_, [&] { return !notes_.empty(); });
  }
  bool RunUntilStarted() {
    return support::RunUntil(loop_, [&] { return started_->load(); });
  }

  std::vector<std::string> notes_;
  EventLoop loop_;
  std::unique_ptr<WorkerPool> pool_ = std::make_unique<WorkerPool>(loop_, WorkerPool::Options{.last_wait = 20ms});
  std::optional<Scope> scope_{std::in_place};
  // The test shares these flags with work that may be stuck.
  const std::shared_ptr<std::atomic<bool>> gate_ = std::make_shared<std::atomic<bool>>();
  const std::shared_ptr<std::atomic<bool>> started_ = std::make_shared<std::atomic<bool>>();
};

TEST_F(WorkerTaskTest, GoesOnOnTheLoopWithWhatTheWorkReturned) {
  static const auto use = [](auto& test) -> Task<> {
    std::thread::id worked_on;
    auto first = co_await test.pool_->Do([&] {
      worked_on = std::this_thread::get_id();
      return std::make_unique<int>(7);
    });
    EXPECT_NE(worked_on, std::this_thread::get_id());
    co_await test.pool_->Do([&] { ++*first; });
    const Result<int> second = co_await test.pool_->Do([]() -> Result<int> { return Fail(ErrorKind::kLimit, "full"); });
    test.notes_ = {std::to_string(*first), second.error().message};
  };
  scope_->Start(use(*this));
  EXPECT_THAT(notes_, IsEmpty());
  ASSERT_TRUE(RunUntilNoted());
  EXPECT_THAT(notes_, ElementsAre("8", "full"));
}

TEST_F(WorkerTaskTest, DestroysTheWorkOnTheWorkerAndTheResultOnTheLoop) {
  const DiedOn work = Nowhere(), result = Nowhere();
  scope_->Start(WaitAtGate(work, result));
  Open();
  ASSERT_TRUE(RunUntilNoted());
  EXPECT_NE(work->load(), std::thread::id());
  EXPECT_NE(work->load(), std::this_thread::get_id());
  EXPECT_EQ(result->load(), std::this_thread::get_id());
}

TEST_F(WorkerTaskTest, DropsTheResultOnTheLoopWhenTheTaskIsGone) {
  const DiedOn work = Nowhere(), result = Nowhere();
  scope_->Start(WaitAtGate(work, result));
  ASSERT_TRUE(RunUntilStarted());
  scope_.reset();
  Open();
  ASSERT_TRUE(support::RunUntil(loop_, [&] { return result->load() != std::thread::id(); }));
  EXPECT_EQ(result->load(), std::this_thread::get_id());
  EXPECT_NE(work->load(), std::this_thread::get_id());
  EXPECT_THAT(notes_, IsEmpty());
}

// A write that the server has accepted is made, even if the client is gone.
TEST_F(WorkerTaskTest, RunsTheWorkOfATaskThatIsGone) {
  static const auto work = [](auto& test, std::shared_ptr<std::atomic<bool>> ran) -> Task<> {
    co_await test.pool_->Do([ran] { *ran = true; });
    test.notes_.emplace_back("goes on");
  };
  const auto ran = std::make_shared<std::atomic<bool>>();
  scope_->Start(work(*this, ran));
  scope_.reset();
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return ran->load() && ran.use_count() == 1; }));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(WorkerTaskTest, KeepsWhatTheWorkUsesUntilItHasEndedAlsoWhenTheTaskIsGone) {
  const DiedOn kept_died_on = Nowhere();
  {
    Scope short_lived;
    short_lived.Start(KeepAtGate(std::make_shared<Witness>(kept_died_on)));
    ASSERT_TRUE(RunUntilStarted());
  }
  EXPECT_EQ(kept_died_on->load(), std::thread::id());
  Open();
  ASSERT_TRUE(support::RunUntil(loop_, [&] { return kept_died_on->load() != std::thread::id(); }));
  EXPECT_EQ(kept_died_on->load(), std::this_thread::get_id());
}

TEST_F(WorkerTaskTest, WaitsForItsScopeWhenThePoolIsGone) {
  const DiedOn work = Nowhere(), result = Nowhere();
  scope_->Start(WaitAtGate(work, result));
  ASSERT_TRUE(RunUntilStarted());
  pool_.reset();
  EXPECT_FALSE(scope_->empty());
  scope_.reset();
  Open();
  EXPECT_TRUE(support::Eventually([&] { return result->load() != std::thread::id(); }));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(WorkerTaskTest, LetsAWorkerDestroyWhatATaskSharesWithIt) {
  static const auto share = [](auto& test, DiedOn died_on) -> Task<> {
    const auto shared = test.pool_->Share(std::optional<Witness>());
    co_await test.pool_->Do([shared, died_on] { shared->emplace(died_on); });
    EXPECT_EQ(died_on->load(), std::thread::id());
    test.notes_.emplace_back("goes on");
  };
  const DiedOn died_on = Nowhere();
  scope_->Start(share(*this, died_on));
  ASSERT_TRUE(RunUntilNoted());
  ASSERT_TRUE(support::RunUntil(loop_, [&] { return died_on->load() != std::thread::id(); }));
  EXPECT_NE(died_on->load(), std::this_thread::get_id());
}

TEST_F(WorkerTaskTest, LetsTheWorkerDestroyWhatATaskThatIsGoneHasShared) {
  static const auto share = [](auto& test, DiedOn died_on) -> Task<> {
    const auto shared = test.pool_->Share(Witness(std::move(died_on)));
    co_await test.pool_->Do([shared, gate = test.gate_, started = test.started_] {
      *started = true;
      gate->wait(false);
    });
  };
  const DiedOn died_on = Nowhere();
  scope_->Start(share(*this, died_on));
  ASSERT_TRUE(RunUntilStarted());
  scope_.reset();
  EXPECT_EQ(died_on->load(), std::thread::id());
  Open();
  ASSERT_TRUE(support::Eventually([&] { return died_on->load() != std::thread::id(); }));
  EXPECT_NE(died_on->load(), std::this_thread::get_id());
}

TEST_F(WorkerTaskTest, DestroysWhatIsSharedAlsoWithoutAPool) {
  pool_ =
      std::make_unique<WorkerPool>(loop_, WorkerPool::Options{.usual_workers = 1, .max_workers = 1, .last_wait = 20ms});
  const DiedOn late = Nowhere(), waiting = Nowhere();
  auto shared = pool_->Share(Witness(late));
  scope_->Start(WaitAtGate(Nowhere(), Nowhere()));
  pool_->Share(Witness(waiting)).reset();
  EXPECT_EQ(waiting->load(), std::thread::id()) << "the only worker is stuck";
  pool_.reset();
  EXPECT_EQ(waiting->load(), std::this_thread::get_id());
  shared.reset();
  EXPECT_EQ(late->load(), std::this_thread::get_id());
}

// Its end is one of the jobs that the pool delivers at once.
TEST_F(WorkerTaskTest, MayEndThePoolAndItsScope) {
  static const auto end = [](auto& test) -> Task<> {
    co_await test.pool_->Do([] {});
    test.pool_.reset();
    test.scope_.reset();
    test.notes_.emplace_back("ended");
  };
  for (int i = 0; i < 3; ++i) scope_->Start(end(*this));
  ASSERT_TRUE(RunUntilNoted());
  support::RunReady(loop_);
  EXPECT_THAT(notes_, ElementsAre("ended"));
}

}  // namespace
}  // namespace holdfast::loop
