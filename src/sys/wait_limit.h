// A WaitLimit bounds the time of blocking system calls that know no time limit themselves, such as waitid. A timer
// interrupts the call by a signal whose handler does nothing, so that the call fails with EINTR. The timer fires again
// and again while the call lasts, because a signal that comes right before the call begins does not interrupt it.
//
// Some calls, such as PTRACE_SEIZE, never fail with EINTR: after a signal the kernel repeats them. For these the
// handler of the signal lets the thread go on behind the call instead of repeating it.
//
// The signal is SIGRTMIN + 2. Its handler is that of the whole process; the signal itself goes only to the thread.
#pragma once

#include <chrono>
#include <ctime>
#include <memory>

#include "base/result.h"

namespace holdfast::sys {

class WaitLimit {
 public:
  // Makes a limit for the calling thread, which lets the signal in from then on. Every other blocking call of the
  // thread has to expect EINTR too. Fails if the user has no right to one more timer (RLIMIT_SIGPENDING).
  static Result<std::unique_ptr<WaitLimit>> Create(std::chrono::nanoseconds limit);
  ~WaitLimit();
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;

  // Makes a call that fails with EINTR when the limit is over, and returns its result. Runs on the thread of Create.
  auto Call(auto&& call) {
    Set(limit_);
    const auto result = call();
    Set(std::chrono::nanoseconds(0));
    return result;
  }

  // Makes a system call that the kernel would repeat after a signal. Returns what the kernel returns: -EINTR when the
  // limit is over, and then the call has had no effect.
  long CallRepeated(long number, long first, long second, long third, long fourth);

 private:
  WaitLimit(timer_t timer, std::chrono::nanoseconds limit) : timer_(timer), limit_(limit) {}
  void Set(std::chrono::nanoseconds interval) const;  // keeps errno

  const timer_t timer_;
  const std::chrono::nanoseconds limit_;
};

}  // namespace holdfast::sys
