// These benchmarks measure the cost of waiting: of tasks that are started, awaited and resumed, and of the way to a
// worker and back, once with callbacks and once as a task.
#include "loop/task.h"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include <benchmark/benchmark.h>

#include "loop/event.h"
#include "loop/permit.h"
#include "loop/scope.h"
#include "loop/worker_pool.h"

namespace {

size_t allocations = 0;
size_t allocated_bytes = 0;

}  // namespace

// Counts what the loop's thread allocates; a worker that allocates at the same time is not counted exactly.
void* operator new(size_t size) {
  ++allocations;
  allocated_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace holdfast::loop {
namespace {

// Reports the allocations of one iteration.
class AllocationCount {
 public:
  explicit AllocationCount(benchmark::State& state) : state_(state) {}
  ~AllocationCount() {
    const auto iterations = static_cast<double>(state_.iterations());
    state_.counters["allocations"] = static_cast<double>(allocations - allocations_before_) / iterations;
    state_.counters["bytes"] = static_cast<double>(allocated_bytes - bytes_before_) / iterations;
  }
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

 private:
  benchmark::State& state_;
  const size_t allocations_before_ = allocations, bytes_before_ = allocated_bytes;
};

Task<> Increment(int& value) {
  ++value;
  co_return;
}

Task<int> Value(int value) { co_return value; }

struct ReadyValue {
  bool await_ready() const { return true; }
  void await_suspend(TaskFrame) const {}
  int await_resume() const { return value; }

  int value;
};

Task<> AwaitReady(benchmark::State& state) {
  int sum = 0;
  for (auto _ : state) {
    sum += co_await ReadyValue{1};
    benchmark::DoNotOptimize(sum);
  }
}

Task<> AwaitTask(benchmark::State& state) {
  int sum = 0;
  for (auto _ : state) {
    sum += co_await Value(1);
    benchmark::DoNotOptimize(sum);
  }
}

Task<> AwaitEvent(Event& event) {
  for (;;) co_await event.Next();
}

void StartAndFinish(benchmark::State& state) {
  Scope scope;
  int value = 0;
  const AllocationCount count(state);
  for (auto _ : state) {
    scope.Start(Increment(value));
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(StartAndFinish);

void StartAndDestroy(benchmark::State& state) {
  Event event;
  const AllocationCount count(state);
  for (auto _ : state) {
    Scope scope;
    scope.Start(AwaitEvent(event));
  }
}
BENCHMARK(StartAndDestroy);

void AwaitAReadyValue(benchmark::State& state) {
  Scope scope;
  scope.Start(AwaitReady(state));
}
BENCHMARK(AwaitAReadyValue);

void AwaitATask(benchmark::State& state) {
  Scope scope;
  const AllocationCount count(state);
  scope.Start(AwaitTask(state));
}
BENCHMARK(AwaitATask);

void WakeATask(benchmark::State& state) {
  Event event;
  Scope scope;
  scope.Start(AwaitEvent(event));
  const AllocationCount count(state);
  for (auto _ : state) event.Notify();
}
BENCHMARK(WakeATask);

void IssueAndReturnAPermit(benchmark::State& state) {
  uint64_t returned = 0;
  Permits permits([&](uint64_t id) { returned += id; });
  const AllocationCount count(state);
  for (auto _ : state) {
    Permit permit = permits.Issue(1);
    benchmark::DoNotOptimize(permit);
  }
}
BENCHMARK(IssueAndReturnAPermit);

// The two callbacks share the job, as those of other callers of Run do.
struct Job {
  int argument = 0;
  std::optional<int> result;
};

class CallbackRounds {
 public:
  CallbackRounds(benchmark::State& state, EventLoop& loop, WorkerPool& pool)
      : state_(state), loop_(loop), pool_(pool) {}

  void Next() {
    if (!state_.KeepRunning()) return loop_.Stop();
    auto job = std::make_shared<Job>(sum_);
    pool_.Run([job] { job->result = job->argument + 1; },
              [this, job] {
                sum_ = *job->result;
                Next();
              });
  }

 private:
  benchmark::State& state_;
  EventLoop& loop_;
  WorkerPool& pool_;
  int sum_ = 0;
};

void RunOnAWorker(benchmark::State& state) {
  EventLoop loop;
  WorkerPool pool(loop, {});
  CallbackRounds rounds(state, loop, pool);
  const AllocationCount count(state);
  rounds.Next();
  loop.Run();
}
BENCHMARK(RunOnAWorker)->UseRealTime();

Task<> DoRounds(benchmark::State& state, EventLoop& loop, WorkerPool& pool) {
  int sum = 0;
  for (auto _ : state) sum = co_await pool.Do([sum] { return sum + 1; });
  loop.Stop();
}

void DoOnAWorker(benchmark::State& state) {
  EventLoop loop;
  WorkerPool pool(loop, {});
  Scope scope;
  const AllocationCount count(state);
  scope.Start(DoRounds(state, loop, pool));
  loop.Run();
}
BENCHMARK(DoOnAWorker)->UseRealTime();

}  // namespace
}  // namespace holdfast::loop
