// The memory that clients can make the server hold, all together: messages that are arriving, requests that are being
// served, answers that are being made or have not been taken, bodies of HTTP responses. A permit is the right to hold
// so many bytes; they come back when it is destroyed.
//
// The verdict when no room is left: a permit waits for it, and is refused after `patience`. Meanwhile the holder of
// most that has held it for longer than `tenure` is asked to give it up, and the next, until there would be room for
// all that wait: a peer that stalls with half a message, or does not take its answers, does not keep the others
// waiting. Small things need no permit, so they never wait.
//
// Everything happens on the loop's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "loop/event_loop.h"
#include "loop/task.h"

namespace holdfast::loop {

class ByteBudget {
 public:
  class Permit;
  class Growth;
  using Granted = std::move_only_function<void(const Result<>&)>;

  struct Options {
    size_t bytes = size_t{1} << 30;
    std::chrono::milliseconds patience{30'000};
    std::chrono::milliseconds tenure{10'000};
    std::chrono::milliseconds tick{500};  // between looks at the time, while somebody waits
  };

  ByteBudget(EventLoop& loop, const Options& options);
  ~ByteBudget();  // whatever waits is forgotten
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  // A permit for nothing yet. `on_reclaim`, if there is one, runs at most once, from the loop: what the permit stands
  // for is to be given up soon.
  Permit Open(Callback on_reclaim = {});

  // A permit for `bytes`, once there is room for them.
  Task<Result<Permit>> Take(size_t bytes);

  size_t held() const;

 private:
  struct Holder;
  struct State;

  std::shared_ptr<State> state_;
};

// Move-only. It may outlive the budget, and then lacks no room either.
class ByteBudget::Permit {
 public:
  Permit();  // of no budget: it never lacks room
  Permit(Permit&&) noexcept;
  Permit& operator=(Permit&&) noexcept;
  ~Permit();

  size_t bytes() const;

  // Holds `bytes` in all from here on. False, and nothing has changed, when there is no room for more.
  bool TryResize(size_t bytes);

  // The same, room or not: for what is held already, and must be seen by those who ask next.
  void Resize(size_t bytes);

  // The same, when there is room: tells at once or later. kLimit when it took too long, or can never be. One wish at a
  // time; the permit's end is the end of its wish.
  void Await(size_t bytes, Granted granted);

  // The same for a task: `co_await permit.Await(bytes)` yields a Result<>.
  Growth Await(size_t bytes);

 private:
  friend ByteBudget;
  explicit Permit(std::unique_ptr<Holder> holder);

  State* budget() const;
  std::optional<Result<>> ResizeOrRefuse(size_t bytes);

  std::unique_ptr<Holder> holder_;
};

class ByteBudget::Growth {
 public:
  Growth(Permit& permit, size_t bytes);
  ~Growth();
  Growth(const Growth&) = delete;
  Growth& operator=(const Growth&) = delete;

  bool await_ready() const { return outcome_.has_value(); }
  void await_suspend(TaskFrame frame);
  Result<> await_resume() { return *std::move(outcome_); }

 private:
  friend ByteBudget;

  Holder* holder_;  // null when the permit is gone
  size_t bytes_;
  std::optional<Result<>> outcome_;
  TaskFrame frame_;
};

}  // namespace holdfast::loop
