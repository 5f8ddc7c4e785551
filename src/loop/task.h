// A sequence that waits, written from top to bottom: a coroutine that returns Task<T>. Nothing of it runs until another
// task awaits it or a Scope starts it, and it runs on the loop's thread only.
//
//   loop::Task<Result<Text>> Reader::Read(std::string path) {
//     auto turn = co_await order_.Enter(path);
//     co_return co_await workers_.Do([path] { return ReadText(path); });
//   }
//
// The locals of a task are destroyed as those of any function, and also when its scope ends while it waits: from the
// innermost frame to the outermost. Once its scope has ended, no co_await of a task returns.
//
// Parameters that are used after a wait are taken by value, or refer to something that outlives the scope. A lambda
// that captures something is no task: its captures go with the lambda, not with the frame.
//
// A task waits for another task, or for an object that a source has made (Event, Queue, WorkerPool, ByteBudget):
//   bool await_ready()              whether there is nothing to wait for
//   void await_suspend(TaskFrame)   begins the wait; the source resumes the frame later, never inside this call
//   T await_resume()                what co_await yields
// The destructor of such an object ends the wait. When the source goes first, the wait lasts until the scope ends.
#pragma once

#include <coroutine>
#include <utility>

#include "loop/task_promise.h"

namespace holdfast::loop {

template <typename T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<T>;

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (frame_) frame_.destroy();
  }

 private:
  friend TaskPromise<T>;
  friend class TaskCall<T>;
  friend class Scope;

  explicit Task(std::coroutine_handle<TaskPromise<T>> frame) : frame_(frame) {}

  std::coroutine_handle<TaskPromise<T>> frame_;
};

inline Task<> TaskPromise<void>::get_return_object() {
  return Task<>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace holdfast::loop
