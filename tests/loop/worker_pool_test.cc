#include "loop/worker_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/loop_runner.h"

namespace holdfast::loop {
namespace {

using namespace std::chrono_literals;

constexpr auto kNever = 1h;
constexpr auto kAWhile = 50ms;  // long enough for a mistake to show

// A gate at which stuck jobs wait.
class Gate {
 public:
  void Pass() const { is_open_.wait(false); }
  void Open() {
    is_open_ = true;
    is_open_.notify_all();
  }

 private:
  std::atomic<bool> is_open_ = false;
};

// A witness stores the id of the thread that destroys it.
class Witness {
 public:
  explicit Witness(std::atomic<std::thread::id>& died_on) : died_on_(&died_on) {}
  Witness(Witness&& other) noexcept : died_on_(std::exchange(other.died_on_, nullptr)) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (died_on_ != nullptr) *died_on_ = std::this_thread::get_id();
  }

 private:
  std::atomic<std::thread::id>* died_on_;
};

class WorkerPoolTest : public testing::Test {
 protected:
  ~WorkerPoolTest() override { gate_->Open(); }

  WorkerPool& Open(WorkerPool::Options options) { return pool_.emplace(*loop_, std::move(options)); }

  // Runs a job that ends when the gate is opened, at the latest at the end of the test.
  void RunStuck() {
    pool_->Run(
        [gate = gate_, started = started_] {
          ++*started;
          gate->Pass();
        },
        [this] { ++done_; });
  }

  void RunQuick() {
    pool_->Run([started = started_] { ++*started; }, [this] { ++done_; });
  }

  bool RunUntil(const std::function<bool()>& condition, std::chrono::milliseconds patience = support::kPatience) {
    return support::RunUntil(*loop_, condition, patience);
  }
  bool RunUntilDone(int jobs) {
    return RunUntil([this, jobs] { return done_ == jobs; });
  }
  bool RunUntilStarted(int jobs) {
    return RunUntil([this, jobs] { return *started_ == jobs; });
  }

  std::optional<EventLoop> loop_{std::in_place};
  std::optional<WorkerPool> pool_;
  // The test shares these objects with stuck jobs, which may outlive it.
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<std::atomic<int>> started_ = std::make_shared<std::atomic<int>>(0);
  int done_ = 0;
};

TEST_F(WorkerPoolTest, RunsWorkOffTheLoopAndDoneOnIt) {
  std::thread::id work_on, done_on;
  Open({}).Run([&] { work_on = std::this_thread::get_id(); }, [&] { done_on = std::this_thread::get_id(); });
  EXPECT_EQ(done_on, std::thread::id());
  ASSERT_TRUE(RunUntil([&] { return done_on != std::thread::id(); }));
  EXPECT_EQ(done_on, std::this_thread::get_id());
  EXPECT_NE(work_on, std::thread::id());
  EXPECT_NE(work_on, done_on);
}

TEST_F(WorkerPoolTest, StartsJobsInTheOrderTheyCame) {
  Open({.usual_workers = 1, .max_workers = 1});
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) pool_->Run([&order, i] { order.push_back(i); }, [this] { ++done_; });
  ASSERT_TRUE(RunUntilDone(100));
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(WorkerPoolTest, EndsEachOfManyJobsOnce) {
  Open({});
  for (int i = 0; i < 5000; ++i) RunQuick();
  ASSERT_TRUE(RunUntilDone(5000));
  EXPECT_EQ(*started_, 5000);
}

TEST_F(WorkerPoolTest, TakesJobsFromDone) {
  Open({.usual_workers = 2});
  std::function<void()> next = [&] {
    if (++done_ < 500) pool_->Run([] {}, [&] { next(); });
  };
  pool_->Run([] {}, [&] { next(); });
  EXPECT_TRUE(RunUntilDone(500));
}

TEST_F(WorkerPoolTest, StaysAtItsUsualWidthWhileJobsAreFast) {
  Open({.usual_workers = 2, .patience = kNever});
  for (int i = 0; i < 1000; ++i) RunQuick();
  EXPECT_EQ(pool_->workers(), 2u);
  ASSERT_TRUE(RunUntilDone(1000));
  EXPECT_EQ(pool_->workers(), 2u);
}

TEST_F(WorkerPoolTest, NeedsOneWorkerForJobsThatComeOneByOne) {
  Open({});
  for (int i = 1; i <= 100; ++i) {
    RunQuick();
    ASSERT_TRUE(RunUntilDone(i));
  }
  EXPECT_EQ(pool_->workers(), 1u);
}

TEST_F(WorkerPoolTest, StuckJobsHoldUpNoOthers) {
  Open({.usual_workers = 2, .patience = 1ms});
  for (int i = 0; i < 10; ++i) RunStuck();
  ASSERT_TRUE(RunUntilStarted(10));
  for (int i = 0; i < 10; ++i) RunQuick();
  ASSERT_TRUE(RunUntilDone(10));
  gate_->Open();
  EXPECT_TRUE(RunUntilDone(20));
}

TEST_F(WorkerPoolTest, AddsNoWorkerBeforeTheRunningJobsAreSlow) {
  Open({.usual_workers = 2, .patience = kNever});
  for (int i = 0; i < 3; ++i) RunStuck();
  EXPECT_FALSE(RunUntil([&] { return *started_ == 3; }, kAWhile));
  EXPECT_EQ(pool_->workers(), 2u);
}

TEST_F(WorkerPoolTest, IsNoWiderThanItsLimit) {
  Open({.usual_workers = 1, .max_workers = 3, .patience = 1ms});
  for (int i = 0; i < 4; ++i) RunStuck();
  ASSERT_TRUE(RunUntilStarted(3));
  EXPECT_FALSE(RunUntil([&] { return *started_ > 3; }, kAWhile));
  RunStuck();
  EXPECT_FALSE(RunUntil([&] { return *started_ > 3; }, kAWhile));
  EXPECT_EQ(pool_->workers(), 3u);
  gate_->Open();
  EXPECT_TRUE(RunUntilDone(5));
}

TEST_F(WorkerPoolTest, IdleWorkersEnd) {
  Open({.usual_workers = 3, .idle_time = 1ms});
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 3; ++i) RunQuick();
    ASSERT_TRUE(RunUntilDone(3 * round));
    ASSERT_TRUE(support::Eventually([&] { return pool_->workers() == 0; }));
  }
}

TEST_F(WorkerPoolTest, KeepsNoMoreThanTheUsualWorkersIdle) {
  Open({.usual_workers = 2, .patience = 1ms, .idle_time = kNever});
  for (int i = 0; i < 8; ++i) RunStuck();
  ASSERT_TRUE(RunUntilStarted(8));
  gate_->Open();
  ASSERT_TRUE(RunUntilDone(8));
  EXPECT_TRUE(support::Eventually([&] { return pool_->workers() == 2; }));
}

TEST_F(WorkerPoolTest, WorkersBearItsNameAndBlockSignals) {
  Open({.name = "files"});
  char name[16] = {};
  sigset_t blocked;
  pool_->Run(
      [&] {
        ::pthread_getname_np(::pthread_self(), name, sizeof name);
        ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
      },
      [this] { ++done_; });
  ASSERT_TRUE(RunUntilDone(1));
  EXPECT_STREQ(name, "files");
  for (int signal : {SIGTERM, SIGINT, SIGCHLD, SIGPIPE, SIGUSR1}) EXPECT_TRUE(::sigismember(&blocked, signal));
  sigset_t ours;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &ours);
  EXPECT_FALSE(::sigismember(&ours, SIGTERM));
}

TEST_F(WorkerPoolTest, DestroysCallbacksOnTheLoop) {
  std::atomic<std::thread::id> work_died_on, done_died_on;
  Open({}).Run([witness = Witness(work_died_on)] {}, [this, witness = Witness(done_died_on)] { ++done_; });
  ASSERT_TRUE(RunUntilDone(1));
  EXPECT_EQ(work_died_on.load(), std::this_thread::get_id());
  EXPECT_EQ(done_died_on.load(), std::this_thread::get_id());
}

TEST_F(WorkerPoolTest, DropsWaitingJobsWhenItIsDestroyed) {
  Open({.usual_workers = 1, .max_workers = 1});
  std::atomic<std::thread::id> work_died_on, done_died_on;
  bool worked = false;
  RunStuck();
  pool_->Run([&worked, witness = Witness(work_died_on)] { worked = true; },
             [this, witness = Witness(done_died_on)] { ++done_; });
  ASSERT_TRUE(RunUntilStarted(1));
  pool_.reset();
  EXPECT_EQ(work_died_on.load(), std::this_thread::get_id());
  EXPECT_EQ(done_died_on.load(), std::this_thread::get_id());
  gate_->Open();
  EXPECT_FALSE(RunUntil([&] { return worked || done_ > 0; }, kAWhile));
}

TEST_F(WorkerPoolTest, WaitsForARunningJobWhenItIsDestroyed) {
  Open({.last_wait = kNever});
  std::atomic<std::thread::id> died_on;
  std::atomic<bool> ended = false;
  pool_->Run(
      [&, started = started_, witness = Witness(died_on)] {
        ++*started;
        std::this_thread::sleep_for(10ms);
        ended = true;
      },
      [this] { ++done_; });
  ASSERT_TRUE(support::Eventually([&] { return *started_ == 1; }));
  pool_.reset();
  EXPECT_TRUE(ended);
  EXPECT_EQ(died_on.load(), std::this_thread::get_id());
  support::RunReady(*loop_);
  EXPECT_EQ(done_, 0);
}

// Two jobs are stuck. The first one that ends destroys what it owns without waiting for the other.
TEST_F(WorkerPoolTest, LeavesStuckJobsBehindThatOutliveTheLoop) {
  Open({});
  const auto first_gate = std::make_shared<Gate>();
  auto owned = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = owned;
  std::atomic<std::thread::id> died_on;
  RunStuck();
  pool_->Run(
      [gate = first_gate, started = started_, owned = std::move(owned)] {
        ++*started;
        gate->Pass();
        ++*owned;
      },
      [this, witness = Witness(died_on)] { ++done_; });
  ASSERT_TRUE(RunUntilStarted(2));

  const auto start = std::chrono::steady_clock::now();
  pool_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  loop_.reset();
  EXPECT_FALSE(watched.expired());

  first_gate->Open();
  EXPECT_TRUE(support::Eventually([&] { return watched.expired() && died_on.load() != std::thread::id(); }));
  EXPECT_NE(died_on.load(), std::this_thread::get_id());
  EXPECT_EQ(done_, 0);
}

TEST_F(WorkerPoolTest, RunsNoDoneAfterItIsDestroyed) {
  Open({});
  for (int i = 0; i < 3; ++i) RunQuick();
  ASSERT_TRUE(support::Eventually([&] { return *started_ == 3; }));
  pool_.reset();
  support::RunReady(*loop_);
  EXPECT_EQ(done_, 0);
}

TEST_F(WorkerPoolTest, MayBeDestroyedInsideDone) {
  Open({.usual_workers = 1, .max_workers = 1, .idle_time = 1ms});
  auto owned = std::make_shared<int>(7);
  for (int i = 0; i < 3; ++i) {
    pool_->Run([] {},
               [this, owned] {
                 pool_.reset();
                 done_ += *owned;
               });
  }
  // The worker has ended, so all three jobs are delivered in one batch.
  ASSERT_TRUE(support::Eventually([&] { return pool_->workers() == 0; }));
  EXPECT_TRUE(RunUntilDone(7));
  support::RunReady(*loop_);
  EXPECT_EQ(done_, 7);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(WorkerPoolTest, DropsJobsFromWhatItsDestructorDestroys) {
  struct Asker {
    explicit Asker(WorkerPool& p) : pool(p) {}
    Asker(const Asker&) = delete;
    Asker& operator=(const Asker&) = delete;
    ~Asker() {
      const auto owned = std::make_shared<int>(7);
      pool.Run([owned] { ADD_FAILURE(); }, [owned] { ADD_FAILURE(); });
      EXPECT_EQ(owned.use_count(), 1);
    }
    WorkerPool& pool;
  };
  Open({.usual_workers = 1, .max_workers = 1});
  RunStuck();
  pool_->Run([asker = std::make_unique<Asker>(*pool_)] {}, [] {});
  pool_.reset();
}

// Keeps its thread from starting other threads. The limit does not hold for root, so a thread of root becomes the user
// nobody first. The raw system call changes the user of this one thread only, unlike the function of libc.
class NoThreads {
 public:
  NoThreads() {
    if (::geteuid() == 0) EXPECT_EQ(::syscall(SYS_setresuid, 65534, 65534, 65534), 0);
    EXPECT_EQ(::getrlimit(RLIMIT_NPROC, &before_), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NPROC, &none), 0);
  }
  ~NoThreads() { EXPECT_EQ(::setrlimit(RLIMIT_NPROC, &before_), 0); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  rlimit before_ = {};
};

TEST_F(WorkerPoolTest, StartsTheJobOnceThereAreThreadsAgain) {
  std::thread user([this] {
    Open({.patience = 1ms});
    {
      const NoThreads limit;
      RunQuick();
      RunQuick();
      EXPECT_EQ(pool_->workers(), 0u);
      EXPECT_FALSE(RunUntil([&] { return *started_ > 0; }, kAWhile));
    }
    EXPECT_TRUE(RunUntilDone(2));
    pool_.reset();
  });
  user.join();
}

TEST_F(WorkerPoolTest, MakesDoWithTheWorkersThatCouldBeStarted) {
  std::thread user([this] {
    Open({});
    RunQuick();
    EXPECT_TRUE(RunUntilDone(1));
    const NoThreads limit;
    for (int i = 0; i < 20; ++i) RunQuick();
    EXPECT_EQ(pool_->workers(), 1u);
    EXPECT_TRUE(RunUntilDone(21));
    pool_.reset();
  });
  user.join();
}

}  // namespace
}  // namespace holdfast::loop
