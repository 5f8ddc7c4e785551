// A Stopwatch measures how long a call has run against its time limit. The time while at least one question to the user
// is open does not count. It reads no clock: the caller passes the time.
#pragma once

#include <chrono>

namespace holdfast::mcp {

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  Stopwatch(Clock::time_point start, Clock::duration limit) : resumed_(start), limit_(limit) {}

  // A pause for each open question; the watch runs again when every pause has ended.
  void Pause(Clock::time_point now);
  void Resume(Clock::time_point now);

  bool paused() const { return pauses_ > 0; }

  // Returns the time that counts.
  Clock::duration Elapsed(Clock::time_point now) const;
  // Returns the time that is left of the limit, at least 0.
  Clock::duration Left(Clock::time_point now) const;

 private:
  Clock::time_point resumed_;   // since when it has been running, unless it is paused
  Clock::duration counted_{0};  // the time that it had run before
  Clock::duration limit_;
  int pauses_ = 0;
};

}  // namespace holdfast::mcp
