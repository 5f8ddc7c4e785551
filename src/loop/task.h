// A task is a sequence of steps that waits between them, written from top to bottom as a coroutine that returns
// Task<T>. It does not begin to run until another task awaits it or a Scope starts it. It runs on the loop's thread
// only.
//
//   loop::Task<Result<Text>> Reader::Read(std::string path) {
//     auto turn = co_await order_.Enter(path);
//     co_return co_await workers_.Do([path] { return ReadText(path); });
//   }
//
// The local variables of a task are destroyed as those of any function. When the scope of a task ends while the task
// waits, they are destroyed too, from the innermost frame to the outermost. Once the scope has ended, no co_await of
// the task returns.
//
// Parameters that are used after a wait are passed by value, or refer to objects that outlive the scope. A lambda with
// captures must not be a task, because its captures are destroyed with the lambda and not with the frame.
//
// A task waits for another task, or for an awaitable that a source (Event, Queue, WorkerPool, ByteBudget) has made:
//   bool await_ready()              returns whether there is nothing to wait for
//   void await_suspend(TaskFrame)   begins the wait; the source resumes the frame later, never inside this call
//   T await_resume()                returns the value that co_await yields
// The destructor of the awaitable ends the wait. When the source is destroyed first, the wait lasts until the scope
// ends.
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
