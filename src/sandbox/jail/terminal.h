// Terminal is the terminal that a sandbox is started on. It decides which process group is in the foreground.
//
// A command on a terminal stays in the session of its caller, in a process group of its own: /dev/tty, Ctrl-C, Ctrl-Z
// and the job control of a shell work as without a sandbox, and kill(0) reaches no process outside. A command without a
// terminal gets a session of its own, so that it cannot find a terminal.
//
// What it does not stop: a command that is given a terminal can read and write it, also from the background. TIOCSTI
// and TIOCLINUX, which would type input in the name of the terminal's user, are refused by the system call filter.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/owned_fd.h"

namespace holdfast::sandbox {

class Terminal {
 public:
  // Returns the controlling terminal of this process, if one of its standard streams is that terminal.
  static std::optional<Terminal> OfStreams();

  // Returns whether the process group of this process is in the foreground. Process groups outside of a pid namespace
  // have no number inside, so comparing tcgetpgrp() with getpgrp() does not answer this.
  bool InForeground() const;

  // The process group in the foreground; absent when it is outside of this pid namespace.
  std::optional<pid_t> foreground_group() const;

  // Brings a process group to the foreground. This works from the background too.
  void GiveTo(pid_t group) const;

  // Brings the group of this process to the foreground when the group that was there has ended.
  void TakeBack() const;

  // Stops the group of this process, as the kernel stops a group in the background that uses the terminal. Returns
  // false when the kernel does not stop the group, because no shell could continue it. A pid 1 does not stop itself.
  bool StopGroup() const;

 private:
  explicit Terminal(OwnedFd fd) : fd_(std::move(fd)) {}

  OwnedFd fd_;
};

}  // namespace holdfast::sandbox
