// ResolveStart turns the params of process/start into a command that can be spawned, or into the reason why it cannot.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "escalate/seccomp/supervision.h"
#include "exec_policy/policy.h"
#include "exec_server/config/config.h"
#include "process/command/command.h"
#include "sandbox/policy/sandbox_spec.h"
#include "wire/process_start_messages.h"

namespace holdfast::exec_server {

// The rules by which every execve of a process is judged.
struct ExecSupervision {
  std::shared_ptr<const exec_policy::Policy> policy;
  std::vector<std::string> files;  // of the policy, as the request names them
  escalate::Strictness strictness = escalate::Strictness::kUsual;
};

// A checked request to start a command: the command, its input and output, its sandbox, its supervision and its limits,
// if any.
struct StartRequest {
  process::Command command;
  process::Io io;
  std::optional<sandbox::SandboxSpec> sandbox;
  std::optional<ExecSupervision> supervision;
  std::optional<std::chrono::milliseconds> wall_limit;
};

// Checks everything in the params but the rules of an exec policy, which have to be read. `command_path` comes first in
// the command's PATH (command_path.h).
Result<StartRequest> ResolveStart(const wire::ProcessStartParams& params, const Config& config,
                                  const process::Environment& server_environment, std::string_view command_path = {});

Result<process::Command> ResolveCommand(const wire::ProcessStartParams& params, const Config& config,
                                        const process::Environment& server_environment,
                                        std::string_view command_path = {});
// `command` is the result of ResolveCommand for the same params.
Result<std::optional<sandbox::SandboxSpec>> ResolveSandbox(const wire::ProcessStartParams& params,
                                                           const process::Command& command);
process::Io ResolveIo(const wire::ProcessStartParams& params);

}  // namespace holdfast::exec_server
