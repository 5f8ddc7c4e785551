// One command under one policy, from the policy to the exit status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/command/command.h"
#include "sandbox/command_line.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/outcome.h"
#include "sandbox/policy/policy.h"
#include "sandbox/proxy/routes.h"

namespace holdfast::sandbox {

struct SandboxedRun {
  Policy policy;
  std::string policy_cwd;
  std::vector<std::string> project_roots = {};  // empty: policy_cwd
  std::optional<std::string> tool_path = {};    // where bwrap is looked for; absent: $PATH
  bool fresh_proc = true;
  std::optional<ProxyRoutes> proxy = {};  // all of the network that there is
  bool may_listen = true;                 // in that network
  LegacyLandlock legacy_landlock = LegacyLandlock::kNo;
  bool landlock_only = false;  // where bubblewrap does not work, Landlock and the filter will do
  // See command_line.h for these.
  std::optional<int> program_fd = {}, bubblewrap_fd = {}, port_ruleset_fd = {};
  std::string program_directory = {};
  std::string server_tmpdir = {};
  std::vector<std::string> hidden = {};
  std::optional<int> report_fd = {};  // see Conclude
  std::string speaker;                // whom the user has called: see Say
  BuiltIn built_in = nullptr;         // instead of a command
  process::Command command = {};      // its variables are those of this process
};

// The plan that Run would use where bubblewrap works, one line per step.
Result<std::string> Explain(const SandboxedRun& run);

Outcome Run(const SandboxedRun& run);

// Without a sandbox: this process becomes the command.
Outcome RunDirectly(const SandboxedRun& run);

}  // namespace holdfast::sandbox
