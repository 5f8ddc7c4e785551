// An order to run one command outside of the sandbox: its program, its directory, its descriptors.
#pragma once

#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "escalate/stub/protocol.h"
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
  // Opened outside, without the mounts of any sandbox. The command enters the directory by this descriptor: what lies
  // at its path may have been replaced since the command was judged.
  std::shared_ptr<const OwnedFd> directory = {};
  ProcessState state = {};
  std::vector<rlimit> limits = {};  // in the order of the RLIMIT_ numbers; empty: those of the server's commands
  std::vector<PassedFd> fds = {};
};

}  // namespace holdfast::escalate
