// What the server and a keeper say to each other: one struct per packet of a SOCK_SEQPACKET pair. No libc types,
// because the keeper is freestanding.
//
// A keeper is the parent of one started command. It is a child subreaper, so whatever the command leaves behind, also
// after setsid or a double fork, becomes the keeper's child and is found again. It ends when the command has exited and
// no descendant is left; when the server is gone it kills everything and ends.
//
// Its life has two parts. It is cloned from the server and, still on the server's memory, starts the command
// (launch.cc); then it executes the keeper program, which keeps (apps/keeper), while the command is executed. The
// server hears of the start from the kernel, not from the keeper, which the command may have stopped by then.
#pragma once

namespace holdfast::process {

inline constexpr int kKeeperControlFd = 3;
inline constexpr int kKeeperImageFd = 4;   // the keeper program, until it is executed
inline constexpr int kKeeperStartFd = 10;  // a pipe that tells of the start, until the command is executed

// The keeper program's argv: its name, the command's pid, for how many milliseconds the leftovers of a command that was
// killed may clean up, and 1 when the kernel keeps the exit status of what it has reaped by itself (sys/exit_status.h).
inline constexpr int kKeeperArgCount = 4;

enum class KeeperReportKind : int {
  kStartFailed,  // value: errno, step: where; on the pipe that ends without it when the command has been executed
  kExited,       // value: exit code, or 128 + signal
};

enum class StartStep : int { kNone, kTerminal, kDirectory, kExec };

struct KeeperReport {
  KeeperReportKind kind;
  int value;
  StartStep step;
};

enum class KeeperOrderKind : int {
  kSignal,  // value: to the command's process group, or once it has exited to what it left behind
  kKill,    // kill every descendant, then end
};

struct KeeperOrder {
  KeeperOrderKind kind;
  int value;
};

}  // namespace holdfast::process
