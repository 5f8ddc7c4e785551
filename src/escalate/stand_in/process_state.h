// The state of a process that a program which it executes inherits. A command outside gets the state of the process
// that stands in for it. The header is usable without libc, because the stub and the starter are freestanding.
#pragma once

namespace holdfast::escalate {

struct ProcessState {
  unsigned umask = 022;
  int nice = 0;
  unsigned long ignored_signals = 0, blocked_signals = 0;  // bit N-1 is signal N

  friend bool operator==(const ProcessState&, const ProcessState&) = default;
};

}  // namespace holdfast::escalate
