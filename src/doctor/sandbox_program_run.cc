#include "doctor/sandbox_program_run.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

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

RunOutcome RunSandboxProgram(const Surroundings& surroundings, const SandboxProgramRun& run) {
  const sandbox::Profile profile{.type = sandbox::ProfileType::kManaged, .policy = run.policy};
  std::vector<std::string> arguments = {sandbox::kProgramName, "--sandbox-policy-cwd", run.workspace,
                                        "--permission-profile", sandbox::ProfileText(profile)};
  std::ranges::copy(run.flags, std::back_inserter(arguments));
  arguments.emplace_back("--");
  std::ranges::copy(run.command, std::back_inserter(arguments));
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
