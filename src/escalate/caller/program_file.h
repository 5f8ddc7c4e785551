// The file of a program that a process wants to execute, looked at from inside, in the root directory of that process,
// and from outside. An execution that cannot succeed is found out here: the supervisor returns its error before it asks
// anybody, and before a stub that takes the place of the program would hide the error.
#pragma once

#include "escalate/caller/caller_state.h"
#include "escalate/caller/caller_view.h"
#include "escalate/caller/or_errno.h"
#include "escalate/caller/program.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

struct ProgramLook {
  exec_policy::ProgramFile file = exec_policy::ProgramFile::kOfSystem;
  // The kernel would refuse the file with ENOEXEC: it is a script without #!, which shells then read themselves.
  bool needs_shell = false;
};

// Fails with the errno that execve would give. `state` is that of the process to which the thread of the caller
// belongs.
OrErrno<ProgramLook> LookAtProgram(const CallerView& caller, const Program& program, const CallerState& state);

}  // namespace holdfast::escalate
