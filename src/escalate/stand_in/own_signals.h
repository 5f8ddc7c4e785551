// The signals of a process that stands in for a command outside: the stub, or the execve wrapper. The header is usable
// without libc.
#pragma once

#include <csignal>

namespace holdfast::escalate {

constexpr unsigned long SignalBit(int signal) { return 1UL << (signal - 1); }

// The signals that concern the process itself and not the command outside: those that no process can catch, the ends of
// children, and those that the kernel sends for a fault or a limit of the process itself. All others are passed on.
inline constexpr unsigned long kOwnSignals = SignalBit(SIGKILL) | SignalBit(SIGSTOP) | SignalBit(SIGCHLD) |
                                             SignalBit(SIGILL) | SignalBit(SIGTRAP) | SignalBit(SIGBUS) |
                                             SignalBit(SIGFPE) | SignalBit(SIGSEGV) | SignalBit(SIGSYS) |
                                             SignalBit(SIGXCPU) | SignalBit(SIGXFSZ);

}  // namespace holdfast::escalate
