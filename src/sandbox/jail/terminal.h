// The terminal a sandbox is started on, and which process group has its turn on it.
//
// A command on a terminal stays in its caller's session, in a process group of its own: /dev/tty, Ctrl-C, Ctrl-Z and
// the job control of a shell work as without a sandbox, and kill(0) reaches nobody outside. A command without a
// terminal gets a session of its own, so that it cannot find one.
//
// What it does not stop: a command that is given a terminal can read and write it, also when it is not its turn. What
// would put words into the mouth of the terminal's user, TIOCSTI and TIOCLINUX, the system call filter refuses.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/owned_fd.h"

namespace holdfast::sandbox {

class Terminal {
 public:
  // The controlling terminal of this process, if one of its standard streams is that terminal.
  static std::optional<Terminal> OfStreams();

  // Whether it is the turn of this process's group. Process groups outside of a pid namespace have no number inside, so
  // this cannot be told by comparing tcgetpgrp() with getpgrp().
  bool InForeground() const;

  // The group whose turn it is; nothing when it is outside of this pid namespace.
  std::optional<pid_t> holder() const;

  // Also from the background.
  void GiveTo(pid_t group) const;

  // Gives the turn to this process's group when it is nobody's any more, because the group that had it has ended.
  void TakeBack() const;

  // Stops this process's group as the kernel does with one that uses the terminal when it is not its turn. False when
  // the kernel would not: nobody is there who could continue the group. A pid 1 does not stop itself.
  bool StopGroup() const;

 private:
  explicit Terminal(OwnedFd fd) : fd_(std::move(fd)) {}

  OwnedFd fd_;
};

}  // namespace holdfast::sandbox
