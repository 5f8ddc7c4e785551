// An event is something that may happen many times and that tasks wait for, such as output of a process or the end of a
// start. It carries no data. A task looks at the state that the event is about, waits while that state is not the
// wanted one, and looks again:
//
//   while (process.starting()) co_await process.changed().Next();
//
// No event is missed between the look and the wait, because both happen in one turn of the loop.
#pragma once

#include <chrono>
#include <optional>

#include "loop/event_loop.h"
#include "loop/task_root.h"

namespace holdfast::loop {

class Deadline;

class Event {
 public:
  enum class Woken { kByEvent, kByTime };
  class Wait;

  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Resumes the tasks that wait at this moment, in the order in which they began to wait. Any of them may destroy the
  // event.
  void Notify();

  // These functions return an awaitable for a task: the next call of Notify, and for NextBefore also the deadline,
  // resumes the task. `co_await` yields which of the two it was.
  Wait Next();
  Wait NextBefore(Deadline& deadline);

 private:
  ListOf<Wait> waiting_;
};

class Event::Wait : public LeavesItsList {
 public:
  Wait(Event& event, Deadline* deadline) : event_(event), deadline_(deadline) {}
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  bool await_ready();
  void await_suspend(TaskFrame frame);
  Woken await_resume() const { return woken_; }

 private:
  friend Event;
  friend Deadline;
  void Wake(Woken how);

  Event& event_;
  Deadline* const deadline_;  // null for a wait without a deadline
  TaskFrame frame_;
  Woken woken_ = Woken::kByEvent;
};

// The time until which one task waits. A deadline is a local variable of that task; the waits of the task, one after
// the other, share its timer.
class Deadline {
 public:
  // The delay counts from the construction. A deadline without a delay never passes.
  Deadline(EventLoop& loop, std::optional<std::chrono::milliseconds> delay);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool passed() const;
  // Returns the time that is left; nothing without a delay.
  std::optional<std::chrono::milliseconds> left() const;

 private:
  friend Event::Wait;
  void Watch(Event::Wait& wait);
  void OnExpired();

  EventLoop& loop_;
  std::optional<std::chrono::steady_clock::time_point> time_;
  std::optional<Timer> timer_;  // set by the first wait
  Event::Wait* waiting_ = nullptr;
};

}  // namespace holdfast::loop
