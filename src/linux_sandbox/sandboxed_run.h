// One command under one policy, from the policy to the exit status.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"
#include "sandbox/proxy_routes.h"

namespace holdfast::linux_sandbox {

struct SandboxedRun {
  sandbox::Policy policy;
  std::string policy_cwd, command_cwd;
  bool fresh_proc = true;
  std::optional<sandbox::ProxyRoutes> proxy = {};  // all of the network that there is
  std::vector<std::string> command;
};

Result<sandbox::Plan> PlanFor(const SandboxedRun& run);

// The exit statuses of the programs that run commands.
enum Status {
  kCannotEnforce = 1,
  kBadUsage = 2,
  kBadDigest = 8,
  kInternal = 101,
  kNotExecutable = 126,
  kNotFound = 127,
};

// Says on standard error what is wrong, and gives the status back.
int Complain(Status status, std::string_view message);

// The command's own status, or why there is none.
int Run(const SandboxedRun& run);

}  // namespace holdfast::linux_sandbox
