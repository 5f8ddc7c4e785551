// The settings of a WrapperServer: the rules by which it decides, and two functions that tests replace by fakes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "escalate/outside/outside_command.h"
#include "escalate/wrapper_server/program_view.h"
#include "exec_policy/judge.h"
#include "exec_policy/policy.h"
#include "process/command/environment.h"

namespace holdfast::escalate {

// Returns a program as the process `caller` sees it, or nothing if that process cannot execute it: ViewProgram, or a
// fake. Runs on a worker, because the file may lie on any file system. `file` may be relative to the directory of the
// process.
using ProgramLookup = std::function<std::optional<ProgramView>(pid_t caller, const std::string& file)>;

struct WrapperServerOptions {
  std::shared_ptr<const exec_policy::Policy> policy;
  exec_policy::ProgramNames names = exec_policy::ProgramNames::kBaseName;
  process::Environment environment = {};  // that the shell was started with, without the variables of the wrapper
  ProgramLookup look;
  StartOutside start;
};

}  // namespace holdfast::escalate
