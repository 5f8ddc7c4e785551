// Who hears of a process's events, in the order of their numbers. No call may destroy the process: its owner does that
// later, from the loop.
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
  // Exited, and every stream at its end: the last numbered event.
  virtual void OnClosed(Process& process, uint64_t seq) = 0;
  // No descendant is alive.
  virtual void OnGone(Process& process) = 0;
  // False while it cannot take more output; it calls ResumeOutput when that changes.
  virtual bool WantsOutput() const = 0;
};

}  // namespace holdfast::process
