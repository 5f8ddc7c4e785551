// A program as the process sees it that wants to execute it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "exec_policy/judge.h"

namespace holdfast::escalate {

struct ProgramView {
  std::string path;  // absolute
  exec_policy::ProgramFile file = exec_policy::ProgramFile::kOfSystem;
  std::vector<std::string> other_paths = {}, interpreter = {}, interpreter_paths = {};  // as in ExecAttempt

  friend bool operator==(const ProgramView&, const ProgramView&) = default;
};

// Returns nothing if the process cannot execute the file, or has ended: then an execve fails, or none happens. `path`
// is absolute, or relative to the working directory of the process. The file system may make the call wait.
std::optional<ProgramView> ViewProgram(pid_t caller, const std::string& path);

}  // namespace holdfast::escalate
