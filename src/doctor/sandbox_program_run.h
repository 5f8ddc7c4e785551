// RunSandboxProgram runs the helper, holdfast-linux-sandbox, on its command line, as any caller can.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "doctor/limited_run.h"
#include "doctor/surroundings.h"
#include "sandbox/policy/policy.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::doctor {

enum class Writable { kNothing, kWorkspace };

// Returns a policy under which everything may be read, and nothing or only the workspace may be written; /tmp may not.
sandbox::Policy PolicyFor(Writable writable, sandbox::Network network);

// The time after which a run counts as hung. It is long, because a busy machine may not run a process for seconds.
inline constexpr std::chrono::seconds kSandboxProgramLimit{5};

struct SandboxProgramRun {
  sandbox::SandboxedCommand sandboxed;
  std::vector<std::string> variables = {};  // NAME=value; they replace environment variables of the same name
  int input = -1;                           // becomes descriptor 0; -1 stands for /dev/null
  std::chrono::milliseconds limit = kSandboxProgramLimit;
};

// Returns the command `argv` under `policy`, with `workspace` as the directory that the policy's project roots stand
// for.
sandbox::SandboxedCommand Sandboxed(const sandbox::Policy& policy, const std::string& workspace,
                                    const std::vector<std::string>& argv);

RunOutcome RunSandboxProgram(const Surroundings& surroundings, const SandboxProgramRun& run);

// Returns a command that does nothing and can be started in any sandbox.
std::vector<std::string> NothingCommand(const Surroundings& surroundings);

}  // namespace holdfast::doctor
