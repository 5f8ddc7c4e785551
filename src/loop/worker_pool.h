// Threads for calls that block: file systems answer when they like. A job runs on some worker, its `done` on the loop.
// Jobs start in the order they came, but end in any.
//
// The pool is as wide as it needs to be. A few workers do the work of a healthy disk. A job that has run longer than
// `patience` does not count among theirs: while others wait, a worker is added in its place, so that jobs stuck on a
// dead network mount hold up no others. Beyond `max_workers` jobs wait. Idle workers end.
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
    std::string name = "worker";                  // of its threads, at most 15 bytes
    size_t usual_workers = 4;                     // started as jobs come
    size_t max_workers = 128;                     // reached only when workers are stuck
    std::chrono::milliseconds patience{20};       // with a running job, before a worker is added in its place
    std::chrono::milliseconds idle_time{10'000};  // after which a worker ends
    std::chrono::milliseconds last_wait{200};     // of the destructor, for running jobs
  };

  WorkerPool(EventLoop& loop, Options options);
  // Drops jobs that have not started, waits `last_wait` for those that have, and leaves the stuck ones behind: they
  // touch nothing but what they own. No `done` runs afterwards.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // `work` runs on a worker and must own what it uses; `done` runs on the loop, and never inside Run. Both are
  // destroyed on the loop's thread unless the pool is gone. When the system has no thread to give, the job waits for a
  // worker that is there, or for the next attempt to start one.
  void Run(Callback work, Callback done);

  // `co_await pool.Do(work)` yields what `work` returns. The worker destroys `work` when it has run, so that closing a
  // file which `work` owns holds up nothing. When the task is destroyed first, `work` runs all the same; the loop's
  // thread destroys the result, and `kept`, which stays alive until then.
  template <typename Work>
  class Doing;
  template <std::invocable Work>
  Doing<Work> Do(Work work, std::shared_ptr<void> kept = nullptr);

  // A value whose end may block, an open file for example: tasks and the work they ask for own it together, and
  // whichever of them goes last, a worker destroys it.
  template <typename T>
  std::shared_ptr<T> Share(T value) {
    return {new T(std::move(value)), [state = state_](T* shared) {
              DestroyOnWorker(*state, [owned = std::unique_ptr<T>(shared)]() mutable { owned.reset(); });
            }};
  }

  size_t workers() const;  // alive at this moment

 private:
  struct State;

  void Widen();
  static void DestroyOnWorker(State& state, Callback destroy);

  std::shared_ptr<State> state_;  // shared with the workers, which may outlive the pool
  Timer widen_timer_;             // runs only while jobs wait that no idle worker will take
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
  // The worker shares it, and may be stuck in it when the task is gone.
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
    TaskFrame frame;  // of the loop's thread; empty when the task is gone
  };

  WorkerPool& pool_;
  std::shared_ptr<Job> job_;
};

template <std::invocable Work>
WorkerPool::Doing<Work> WorkerPool::Do(Work work, std::shared_ptr<void> kept) {
  return {*this, std::move(work), std::move(kept)};
}

}  // namespace holdfast::loop
