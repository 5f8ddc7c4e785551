// The value that says which command is to run outside, and with what.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/owned_fd.h"

namespace holdfast::escalate {

struct PassedFd {
  int number;  // the number that the command gets it under
  OwnedFd fd;
};

// The command, and the state that it would have inherited from the process that wanted to execute it.
struct OutsideOrder {
  std::string path;  // absolute
  std::vector<std::string> argv = {};
  std::vector<std::string> environment = {};  // NAME=VALUE entries in their order, also malformed ones
  std::string cwd;                            // absolute; entered by its name, never by a descriptor from inside
  mode_t umask = 022;
  uint64_t ignored_signals = 0, blocked_signals = 0;  // bit N-1 is signal N
  int nice = 0;
  std::vector<rlimit> limits = {};  // in the order of the RLIMIT_ numbers; empty: those of the server's commands
  std::vector<PassedFd> fds = {};
};

}  // namespace holdfast::escalate
