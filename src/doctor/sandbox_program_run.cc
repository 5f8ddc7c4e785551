#include "doctor/sandbox_program_run.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "process/command/command.h"
#include "sandbox/flags.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/policy/permission_profile.h"

namespace holdfast::doctor {

sandbox::Policy PolicyFor(Writable writable, sandbox::Network network) {
  sandbox::Policy policy;
  policy.network = network;
  auto& entries = policy.files.emplace().entries;
  entries.push_back({.where = sandbox::Place{sandbox::PlaceKind::kRoot}, .access = sandbox::Access::kRead});
  if (writable == Writable::kWorkspace) {
    entries.push_back({.where = sandbox::Place{sandbox::PlaceKind::kProjectRoots}, .access = sandbox::Access::kWrite});
  }
  return policy;
}

sandbox::SandboxedCommand Sandboxed(const sandbox::Policy& policy, const std::string& workspace,
                                    const std::vector<std::string>& argv) {
  const sandbox::Profile profile{.type = sandbox::ProfileType::kManaged, .policy = policy};
  sandbox::SandboxedCommand command{.command = process::MakeCommand({.words = argv}, std::nullopt),
                                    .profile = sandbox::ProfileText(profile)};
  command.sandbox.policy_cwd = workspace;
  return command;
}

RunOutcome RunSandboxProgram(const Surroundings& surroundings, const SandboxProgramRun& run) {
  std::vector<std::string> arguments = sandbox::BuildFlags(run.sandboxed);
  arguments.insert(arguments.begin(), sandbox::kProgramName);
  return RunLimited({.program = surroundings.sandbox_program,
                     .arguments = std::move(arguments),
                     .variables = run.variables,
                     .input = run.input,
                     .limit = run.limit});
}

std::vector<std::string> NothingCommand(const Surroundings& surroundings) {
  for (const char* path : {"/bin/true", "/usr/bin/true"}) {
    if (::access(path, X_OK) == 0) return {path};
  }
  return {surroundings.program, "--version"};
}

}  // namespace holdfast::doctor
