// A byte budget bounds the memory that all clients together can make the server hold: messages that are arriving,
// requests that are being served, answers that are being made or that the client has not read yet, bodies of HTTP
// responses. A permit is the right to hold a number of bytes, which return to the budget when the permit is destroyed.
//
// When no room is left, a permit waits for it, and is refused after `patience`. Meanwhile the budget reclaims bytes: of
// the permits that have held bytes for longer than `tenure`, the largest is asked to give them up, then the next, until
// there would be room for all permits that wait. So a client that stalls with half a message, or that does not read its
// answers, does not keep the others waiting. Small amounts of memory need no permit, so they never wait.
//
// A budget and its permits are used on the loop's thread only.
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
    std::chrono::milliseconds tick{500};  // the interval of checks for `patience` and `tenure` while a permit waits
  };

  ByteBudget(EventLoop& loop, const Options& options);
  ~ByteBudget();  // permits that wait are neither granted nor refused
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  // Returns a permit that holds nothing yet. The budget calls `on_reclaim`, if it is set, at most once, from the loop,
  // to ask the owner of the permit to give up soon what the permit was used for.
  Permit Open(Callback on_reclaim = {});

  // Waits until there is room for `bytes`, and returns a permit that holds them.
  Task<Result<Permit>> Take(size_t bytes);

  size_t held() const;

 private:
  struct Holder;
  struct State;

  std::shared_ptr<State> state_;
};

// A permit can be moved but not copied. It may outlive its budget; from then on it always gets room.
class ByteBudget::Permit {
 public:
  Permit();  // a permit without a budget, which always gets room
  Permit(Permit&&) noexcept;
  Permit& operator=(Permit&&) noexcept;
  ~Permit();

  size_t bytes() const;

  // Makes the permit hold `bytes` in all. Returns false, and changes nothing, if there is no room for more.
  bool TryResize(size_t bytes);

  // Makes the permit hold `bytes` in all, even if there is no room. This is for memory that the server holds already,
  // and that has to be counted before other permits get room.
  void Resize(size_t bytes);

  // Makes the permit hold `bytes` in all as soon as there is room, and calls `granted` then, possibly inside this call.
  // The result is kLimit if the wait took too long, or if the budget is too small for the wish. A permit has at most
  // one such wish at a time. When the permit is destroyed, its wish is dropped without a call.
  void Await(size_t bytes, Granted granted);

  // The same as an awaitable for a task: `co_await permit.Await(bytes)` yields a Result<>.
  Growth Await(size_t bytes);

 private:
  friend ByteBudget;
  explicit Permit(std::unique_ptr<Holder> holder);

  State* budget() const;
  std::optional<Result<>> ResizeOrRefuse(size_t bytes);

  std::unique_ptr<Holder> holder_;
};

// The awaitable of Permit::Await. A task that had to wait goes on in the next turn of the loop.
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

  void Abandon();

  Holder* holder_;  // null once the permit is destroyed
  size_t bytes_;
  std::optional<Result<>> outcome_;
  TaskFrame frame_;
  std::optional<Timer> next_turn_;  // resumes the frame
};

}  // namespace holdfast::loop
