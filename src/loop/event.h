// Something that happens again and again, and that tasks wait for: output of a process, the end of a start. An event
// carries nothing. A task looks at the state that it is about, waits while that is not what it wants, and looks again:
//
//   while (process.starting()) co_await process.changed().Next();
//
// Nothing is missed between the look and the wait, since both happen in one turn of the loop.
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

  // The tasks that wait at this moment go on, in the order they came. Any of them may destroy the event.
  void Notify();

  // Tasks await these.
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
  Deadline* const deadline_;  // or null
  TaskFrame frame_;
  Woken woken_ = Woken::kByEvent;
};

// The time up to which one task waits, as a local of that task. Its waits, one after the other, share the timer.
class Deadline {
 public:
  // The delay begins here. A deadline without one never passes.
  Deadline(EventLoop& loop, std::optional<std::chrono::milliseconds> delay);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool passed() const;

 private:
  friend Event::Wait;
  void Watch(Event::Wait& wait);
  void OnExpired();

  EventLoop& loop_;
  std::optional<std::chrono::steady_clock::time_point> time_;
  std::optional<Timer> timer_;  // from the first wait on
  Event::Wait* waiting_ = nullptr;
};

}  // namespace holdfast::loop
