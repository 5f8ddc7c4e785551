// The promises and awaitables that connect the frames of a task. Only task.h includes this header.
#pragma once

#include <concepts>
#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "loop/task_root.h"

namespace holdfast::loop {

template <typename T>
class Task;
template <typename T>
class TaskPromise;

// The awaitable by which one frame waits for another. The callee runs in place of its caller, so the stack grows
// neither at the call nor at the return.
template <typename T>
class TaskCall {
 public:
  TaskCall(Task<T>& callee, TaskRoot& root) : callee_(callee.frame_), root_(root) {}

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    if (root_.scope_ended()) return std::noop_coroutine();
    callee_.promise().Enter(root_, caller);
    return callee_;
  }
  T await_resume() { return callee_.promise().TakeValue(); }

 private:
  const std::coroutine_handle<TaskPromise<T>> callee_;
  TaskRoot& root_;
};

// The awaitable by which a frame waits for the awaitable of a source.
template <typename Source>
struct TaskWait {
  bool await_ready() { return !root.scope_ended() && source.await_ready(); }
  void await_suspend(std::coroutine_handle<> frame) {
    if (!root.scope_ended()) source.await_suspend(TaskFrame{&root, frame});
  }
  decltype(auto) await_resume() { return source.await_resume(); }

  Source& source;
  TaskRoot& root;
};

// The part that the promises of all tasks have in common.
class TaskLinks {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() const noexcept { return Return(); }
  [[noreturn]] void unhandled_exception() const noexcept { CheckFailed(__FILE__, __LINE__, "no task throws"); }

  template <typename U>
  TaskCall<U> await_transform(Task<U>&& callee) {
    return {callee, *root_};
  }
  template <typename Source>
  TaskWait<std::remove_reference_t<Source>> await_transform(Source&& source) {
    return {source, *root_};
  }

  void Enter(TaskRoot& root, std::coroutine_handle<> caller) {
    root_ = &root;
    caller_ = caller;
  }

 private:
  struct Return {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> frame) const noexcept {
      return static_cast<TaskLinks&>(frame.promise()).Leave();
    }
    void await_resume() const noexcept {}
  };

  // Returns the frame that runs after this one has returned.
  std::coroutine_handle<> Leave() noexcept {
    if (!caller_) root_->SetDone();
    return caller_ && !root_->scope_ended() ? caller_ : std::noop_coroutine();
  }

  TaskRoot* root_ = nullptr;
  std::coroutine_handle<> caller_;  // null in the outermost frame
};

template <typename T>
class TaskPromise : public TaskLinks {
 public:
  Task<T> get_return_object() { return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this)); }
  template <std::convertible_to<T> U = T>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T TakeValue() { return *std::move(value_); }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> : public TaskLinks {
 public:
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void TakeValue() const noexcept {}
  TaskRoot& own_root() { return own_root_; }

 private:
  TaskRoot own_root_;  // used when this frame is the outermost
};

}  // namespace holdfast::loop
