// The errands that the thread of a supervisor leaves to the loop's thread: questions to an approver, and commands
// outside. Every function may be called on the supervisor's thread and returns at once; what comes of it arrives in the
// inbox of the supervisor.
#pragma once

#include <cstdint>

#include "escalate/approver.h"
#include "escalate/outside/outside_command.h"

namespace holdfast::escalate {

class Errands {
 public:
  virtual ~Errands() = default;

  // Leads to Answered, unless the question is withdrawn.
  virtual void Ask(uint64_t call, Question question) = 0;
  virtual void Withdraw(uint64_t call) = 0;

  // Leads to CommandEnded, unless the command is killed.
  virtual void Start(uint64_t stub, OutsideOrder order) = 0;
  virtual void Signal(uint64_t stub, int signal) = 0;
  virtual void Kill(uint64_t stub) = 0;
};

}  // namespace holdfast::escalate
