// The sandbox program, run as any caller runs it.
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

// All may be read. /tmp is not writable.
sandbox::Policy PolicyFor(Writable writable, sandbox::Network network);

// Only for what hangs: a busy machine may stand still for seconds.
inline constexpr std::chrono::seconds kSandboxProgramLimit{5};

struct SandboxProgramRun {
  sandbox::SandboxedCommand sandboxed;
  std::vector<std::string> variables = {};  // NAME=value, instead of those of the same name
  int input = -1;                           // becomes descriptor 0; -1: /dev/null
  std::chrono::milliseconds limit = kSandboxProgramLimit;
};

// `words` as a command in `workspace`, under `policy`.
sandbox::SandboxedCommand Sandboxed(const sandbox::Policy& policy, const std::string& workspace,
                                    const std::vector<std::string>& words);

RunOutcome RunSandboxProgram(const Surroundings& surroundings, const SandboxProgramRun& run);

// A command that does nothing, and needs nothing but to be started.
std::vector<std::string> NothingCommand(const Surroundings& surroundings);

}  // namespace holdfast::doctor
