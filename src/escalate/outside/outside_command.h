// An OutsideCommand is a command that a sandboxed process wanted to execute and that runs outside of the sandbox
// instead, with the descriptors and the state of that process. It runs under a keeper: nothing that it leaves behind
// outlives it or the server.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "loop/event_loop.h"
#include "process/spawner.h"

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
  std::vector<PassedFd> fds = {};
};

// The end of a command: an exit code, or the signal that killed it.
struct Ending {
  int exit_code = 0;
  int signal = 0;  // 0: the command has exited

  friend bool operator==(const Ending&, const Ending&) = default;
};

class OutsideObserver {
 public:
  virtual ~OutsideObserver() = default;
  virtual void OnStopped(int signal) = 0;
  // A command that could not be executed ends with 126 or 127, as in a shell. This is the last call.
  virtual void OnEnded(const Ending& ending) = 0;
};

class OutsideCommand {
 public:
  // Starts the command. All calls run on the loop's thread. `observer` outlives the command.
  static Result<std::unique_ptr<OutsideCommand>> Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                       OutsideOrder order, OutsideObserver& observer);
  // Kills the command and everything that it has started.
  virtual ~OutsideCommand() = default;

  // Passes a signal on to the command's process group.
  virtual void Signal(int signal) = 0;
};

}  // namespace holdfast::escalate
