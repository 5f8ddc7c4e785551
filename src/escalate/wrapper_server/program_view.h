// The file that a path names for the process that calls execve, and the directory in which that process calls it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "escalate/caller/outside_directory.h"
#include "exec_policy/judge.h"

namespace holdfast::escalate {

struct ProgramView {
  std::string path;  // absolute
  exec_policy::ProgramFile file = exec_policy::ProgramFile::kOfSystem;
  std::vector<std::string> other_paths = {}, interpreter = {}, interpreter_paths = {};  // as in ExecAttempt
  std::string cwd = {};                                                                 // as the process sees it
  std::optional<OutsideDirectory> directory = {};  // absent if it is another one outside

  friend bool operator==(const ProgramView&, const ProgramView&) = default;
};

// Returns nothing if the process cannot execute the file, or has ended: then an execve fails, or none happens. `file`
// is absolute, or relative to the working directory of the process. What is returned counts only if the process is
// known to exist afterwards. The file system may make the call wait.
std::optional<ProgramView> ViewProgram(pid_t caller, const std::string& file);

}  // namespace holdfast::escalate
