// The protocol between the server and a keeper: one struct per packet of a SOCK_SEQPACKET pair. There are no libc
// types, because the keeper is freestanding.
//
// A keeper is the parent of one command. It is a child subreaper, so every process that the command leaves behind, even
// after setsid or a double fork, becomes the keeper's child and can be found. The keeper ends when the command has
// exited and no descendant is left. When the server is gone, the keeper kills everything and ends.
//
// The life of a keeper has two parts. It is cloned from the server and, still on the server's memory, starts the
// command (launch.cc). Then it executes the keeper program (apps/keeper), while the command is executed beside it. The
// server learns of the start from the kernel and not from the keeper, because the command may have stopped the keeper
// by then.
#pragma once

namespace holdfast::process {

inline constexpr int kKeeperControlFd = 3;
inline constexpr int kKeeperImageFd = 4;   // the keeper program; closed when it is executed
inline constexpr int kKeeperStartFd = 11;  // the start pipe; closed when the command is executed

// The number of arguments of the keeper program: its name, the command's pid, the milliseconds that the processes left
// behind by a killed command have for cleaning up, 1 if the kernel keeps the exit status of a process that it has
// reaped by itself (sys/exit_status.h), and 1 if the server wants to know when the command is stopped.
inline constexpr int kKeeperArgCount = 5;

enum class KeeperEventKind : int {
  // Written into the start pipe, which ends without it if the command was executed. `value` is the errno, and `step`
  // tells what failed.
  kStartFailed,
  kExited,  // `value` is the status that wait4 returns
  // The command was stopped by the signal `value`. The keeper sends this only if the server wants to know it, and once
  // until the next SIGCONT from the server. `continue_count` is the number of these before the stop. A server that has
  // sent more of them knows that the next one ends the stop.
  kStopped,
  // These come from a jail and from pid 1 of a sandbox, which is the keeper of its command
  // (sandbox/native/jail_entry.h).
  kCloned,      // `value` is the pid of pid 1, and its pidfd comes with the event
  kBegun,       // pid 1 is about to start the command, or to say why it cannot
  kStarted,     // the command has been started, in a sandbox of the native backend
  kNotStarted,  // `value` is the exit status that tells why, and the reason follows the struct as text
};

// The longest text behind an event.
inline constexpr unsigned kMaxReasonBytes = 3000;

enum class StartStep : int { kNone, kTerminal, kDirectory, kExec };

struct KeeperEvent {
  KeeperEventKind kind;
  int value;
  StartStep step;
  unsigned continue_count = 0;
};

enum class KeeperInstructionKind : int {
  // Send the signal `value` to the command's process group or, after the command has exited, to the processes that it
  // left behind.
  kSignal,
  kKill,  // kill every descendant, then end
};

struct KeeperInstruction {
  KeeperInstructionKind kind;
  int value;
};

}  // namespace holdfast::process
