// A CommandWatch is the server's end of the process that watches over one command: the keeper of the command
// (keeper.h), or pid 1 of a sandbox that a launcher has made (launched_sandbox.h). It passes instructions on, and tells
// its observer what becomes of the command. It is destroyed after OnGone, or when the server itself ends; the other end
// then kills everything.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "process/command/start_report.h"
#include "process/keeper/protocol.h"

namespace holdfast::process {

// A CommandObserver is told what becomes of one command.
class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  // The program has been executed, as which a wrapper counts too. `pid` is the process that a user can look for.
  virtual void OnStarted(pid_t pid) = 0;
  virtual void OnStartFailed(StartStep step, int errno_value) = 0;
  // Called only for a command with a wrapper, after OnStarted: the report tells whether the command has been started.
  virtual void OnReport(const Result<Enforcement>& /*outcome*/) {}
  // `wait_status` is the status that wait4 returns.
  virtual void OnExited(int wait_status) = 0;
  // Called only for a command whose stops are reported (Stops::kReported). `continue_count` is the number of times that
  // SIGCONT was sent by Signal before the stop; if it was sent more often, the stop does not last.
  virtual void OnStopped(int /*signal*/, unsigned /*continue_count*/) {}
  // No descendant is alive, and the process that watched over the command has ended. This is the last call.
  virtual void OnGone() = 0;
  // Called only for a command that was to enter a jail (launched_sandbox.h), and instead of all others: it was not
  // started, and never will be. This is the last call, and may destroy the watch.
  virtual void OnNotLaunched() {}
};

class CommandWatch {
 public:
  virtual ~CommandWatch() = default;

  // Sends a signal to the command's process group.
  virtual void Signal(int signal) = 0;

  // Kills every descendant.
  virtual void KillAll() = 0;
};

}  // namespace holdfast::process
