// The sandbox program, run as any caller runs it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "doctor/limited_run.h"
#include "doctor/surroundings.h"
#include "sandbox/policy/policy.h"

namespace holdfast::doctor {

enum class Writable { kNothing, kWorkspace };

// All may be read. /tmp is not writable.
sandbox::Policy PolicyFor(Writable writable, sandbox::Network network);

// Only for what hangs: a busy machine may stand still for seconds.
inline constexpr std::chrono::seconds kSandboxProgramLimit{5};

struct SandboxProgramRun {
  sandbox::Policy policy;
  std::string workspace;
  std::vector<std::string> flags = {}, variables = {};
  int input = -1;
  std::chrono::milliseconds limit = kSandboxProgramLimit;
  std::vector<std::string> command;
};

RunOutcome RunSandboxProgram(const Surroundings& surroundings, const SandboxProgramRun& run);

// A command that does nothing, and needs nothing but to be started.
std::vector<std::string> NothingCommand(const Surroundings& surroundings);

}  // namespace holdfast::doctor
