// The file of a program as the process sees it that wants to execute it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "exec_policy/judge.h"

namespace holdfast::escalate {

// Returns nothing if the process cannot execute the file, or has ended: then an execve fails, or none happens. `path`
// is absolute. The file system may make the call wait.
std::optional<exec_policy::ProgramFile> ViewProgram(pid_t caller, const std::string& path);

}  // namespace holdfast::escalate
