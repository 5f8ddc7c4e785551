// The file of a program that a process wants to execute, looked at from inside, in the root directory of that process,
// and from outside. An execution that cannot succeed is found out here: the supervisor returns its error before it asks
// anybody, and before a stub that takes the place of the program would hide the error.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "escalate/caller/caller_state.h"
#include "escalate/caller/or_errno.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

// A link in /proc/TID by which the program is executed instead of by its path: that of a descriptor, or "exe".
using ProgramLink = std::optional<std::string>;

struct ProgramLook {
  exec_policy::ProgramFile file = exec_policy::ProgramFile::kFixed;
  // The kernel would refuse the file with ENOEXEC: it is a script without #!, which shells then read themselves.
  bool needs_shell = false;
};

// `path` is absolute. Fails with the errno that execve would give. `caller` is the state of the process to which the
// thread belongs.
OrErrno<ProgramLook> LookAtProgram(pid_t tid, const std::string& path, const CallerState& caller,
                                   const ProgramLink& link = {});

// Returns the interpreter that the first line of a script names and, if there is one, its argument; nothing for other
// files, and for files that cannot be read.
std::vector<std::string> ReadInterpreter(pid_t tid, const std::string& path, const ProgramLink& link = {});

}  // namespace holdfast::escalate
