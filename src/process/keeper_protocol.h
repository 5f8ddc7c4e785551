// What the server and a keeper say to each other: one struct per packet of a SOCK_SEQPACKET pair. No libc types, because
// the keeper is freestanding.
//
// A keeper is the parent of one started command. It is a child subreaper, so whatever the command leaves behind, also
// after setsid or a double fork, becomes the keeper's child and is found again. It ends when the command has exited and
// no descendant is left; when the server is gone it kills everything and ends.
#pragma once

namespace holdfast::process {

inline constexpr int kKeeperControlFd = 3;

enum class KeeperReportKind : int {
  kStarted,      // value: pid of the command, which has been executed
  kStartFailed,  // value: errno, step: where
  kExited,       // value: exit code, or 128 + signal
};

enum class StartStep : int { kNone, kTerminal, kDirectory, kExec };

struct KeeperReport {
  KeeperReportKind kind;
  int value;
  StartStep step;
};

enum class KeeperOrderKind : int {
  kSignal,  // value: to the command's process group, unless the command has exited
  kKill,    // kill every descendant, then end
};

struct KeeperOrder {
  KeeperOrderKind kind;
  int value;
};

// The keeper's argv: kKeeperArgs fixed words, then the command's own argv. Its environment is the command's.
enum KeeperArg : int {
  kKeeperName,
  kKeeperIo,          // "p" pipes, "t" terminal on descriptor 0
  kKeeperDirectory,   // the command's working directory
  kKeeperProgram,     // path, or a bare name to look up
  kKeeperSearchPath,  // PATH for a bare name, empty when the program is a path
  kKeeperArgs,
};

}  // namespace holdfast::process
