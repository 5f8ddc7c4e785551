// The value that says which command is to run outside, and with what.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "escalate/stand_in/process_state.h"
#include "sys/foreign_fd.h"

namespace holdfast::escalate {

struct PassedFd {
  int number;  // the number that the command gets it under
  sys::ForeignFd fd;
};

// The command, and the state that it would have inherited from the process that wanted to execute it.
struct OutsideOrder {
  std::string path;  // absolute
  std::vector<std::string> argv = {};
  std::vector<std::string> environment = {};  // NAME=VALUE entries in their order, also malformed ones
  std::string cwd;                            // absolute; entered by its name, never by a descriptor from inside
  ProcessState state = {};
  std::vector<rlimit> limits = {};  // in the order of the RLIMIT_ numbers; empty: those of the server's commands
  std::vector<PassedFd> fds = {};
};

}  // namespace holdfast::escalate
