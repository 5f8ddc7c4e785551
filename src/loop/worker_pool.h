// Threads (workers) for calls that block, such as those to file systems, whose answers may take any time. A job runs on
// one of the workers, and its `done` on the loop. Jobs start in the order in which they came, but end in any order.
//
// The pool has as many workers as it needs. A few are enough for a healthy disk. For each job that has run longer than
// `patience`, one more worker is allowed while other jobs wait. So jobs that are stuck on a dead network mount do not
// hold up others. With `max_workers` workers, further jobs wait. Idle workers end.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "loop/event_loop.h"
#include "loop/task_root.h"

namespace holdfast::loop {

class WorkerPool {
 public:
  struct Options {
    std::string name = "worker";                  // the name of the threads, at most 15 bytes
    size_t usual_workers = 4;                     // started when jobs come
    size_t max_workers = 128;                     // reached only when workers are stuck
    std::chrono::milliseconds patience{20};       // the time after which a running job allows one more worker
    std::chrono::milliseconds idle_time{10'000};  // the time after which an idle worker ends
    std::chrono::milliseconds last_wait{200};     // the time that the destructor waits for running jobs
  };

  WorkerPool(EventLoop& loop, Options options);
  // Drops jobs that have not started, waits `last_wait` for those that run, and leaves stuck ones behind, which use
  // nothing but what they own. No `done` runs afterwards.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs `work` on a worker, and then `done` on the loop, never inside Run. `work` must own what it uses. Both are
  // destroyed on the loop's thread unless the pool is destroyed first. When the system refuses to make a thread, the
  // job waits for a worker that exists, or for the next attempt to start one.
  void Run(Callback work, Callback done);

  // `co_await pool.Do(work)` yields the value that `work` returns. The worker destroys `work` when it has run, so that
  // closing a file which `work` owns does not hold up the loop. When the task is destroyed first, `work` runs all the
  // same. The loop's thread destroys the value, and `kept`, which stays alive until the work has ended.
  template <typename Work>
  class Doing;
  template <std::invocable Work>
  Doing<Work> Do(Work work, std::shared_ptr<void> kept = nullptr);

  // Returns a value whose destruction may block, an open file for example. Tasks and their work share it, and a worker
  // destroys it, whichever of them releases it last.
  template <typename T>
  std::shared_ptr<T> Share(T value) {
    return {new T(std::move(value)), [state = state_](T* shared) {
              DestroyOnWorker(*state, [owned = std::unique_ptr<T>(shared)]() mutable { owned.reset(); });
            }};
  }

  size_t workers() const;  // the number of workers that exist at this moment

 private:
  struct State;

  void Widen();
  static void DestroyOnWorker(State& state, Callback destroy);

  std::shared_ptr<State> state_;  // shared with the workers, which may outlive the pool
  Timer widen_timer_;             // runs only while more jobs wait than workers are idle
};

template <typename Work>
class WorkerPool::Doing {
 public:
  using Value = std::invoke_result_t<Work&>;
  Doing(WorkerPool& pool, Work work, std::shared_ptr<void> kept)
      : pool_(pool), job_(std::make_shared<Job>(std::move(work), std::move(kept))) {}
  ~Doing() { job_->frame = {}; }
  Doing(const Doing&) = delete;

  bool await_ready() const { return false; }
  void await_suspend(TaskFrame frame) {
    job_->frame = frame;
    pool_.Run([job = job_] { job->RunOnWorker(); }, [job = job_] { job->frame.Resume(); });
  }
  Value await_resume() {
    if constexpr (!std::is_void_v<Value>) return *std::move(job_->value);
  }

 private:
  // The state that the task shares with the worker, which may be stuck in the work after the task is destroyed.
  struct Job {
    Job(Work wanted, std::shared_ptr<void> held) : kept(std::move(held)), work(std::move(wanted)) {}
    void RunOnWorker() {
      if constexpr (std::is_void_v<Value>) (*work)();
      if constexpr (!std::is_void_v<Value>) value.emplace((*work)());
      work.reset();
    }

    std::shared_ptr<void> kept;
    std::optional<Work> work;
    std::optional<std::conditional_t<std::is_void_v<Value>, std::monostate, Value>> value;
    TaskFrame frame;  // used by the loop's thread only; empty once the task is destroyed
  };

  WorkerPool& pool_;
  std::shared_ptr<Job> job_;
};

template <std::invocable Work>
WorkerPool::Doing<Work> WorkerPool::Do(Work work, std::shared_ptr<void> kept) {
  return {*this, std::move(work), std::move(kept)};
}

}  // namespace holdfast::loop
