// A ProcessOwner receives the events of a process, in the order of their numbers. No call may destroy the process: the
// owner does that later, from the loop.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "process/output_log.h"

namespace holdfast::process {

class Process;

class ProcessOwner {
 public:
  virtual ~ProcessOwner() = default;
  virtual void OnStarted(Process& process) = 0;
  virtual void OnStartFailed(Process& process, const Error& error) = 0;
  virtual void OnOutput(Process& process, const Chunk& chunk) = 0;
  virtual void OnExited(Process& process, uint64_t seq) = 0;
  // The command has exited and every stream has ended. This is the last numbered event.
  virtual void OnClosed(Process& process, uint64_t seq) = 0;
  // No descendant is alive.
  virtual void OnGone(Process& process) = 0;
  // Returns false while the owner cannot accept more output. The owner calls ResumeOutput when that changes.
  virtual bool WantsOutput() const = 0;
};

}  // namespace holdfast::process
