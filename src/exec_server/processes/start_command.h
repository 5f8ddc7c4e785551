// From the params of process/start to a command that can be spawned, or to the reason why not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_server/config/config.h"
#include "process/command/command.h"
#include "sandbox/launch/sandbox_spec.h"
#include "wire/process_start_messages.h"

namespace holdfast::exec_server {

// What to start, and what holds it.
struct StartOrder {
  process::Command command;
  process::Io io;
  std::optional<sandbox::SandboxSpec> sandbox;
};

// All that a request says, checked. `command_path` goes first in the command's PATH (command_path.h).
Result<StartOrder> ResolveStart(const wire::ProcessStartParams& params, const Config& config,
                                const process::Environment& server_environment, std::string_view command_path = {});

Result<process::Command> ResolveCommand(const wire::ProcessStartParams& params, const Config& config,
                                        const process::Environment& server_environment,
                                        std::string_view command_path = {});
// The command is the one that the params ask for.
Result<std::optional<sandbox::SandboxSpec>> ResolveSandbox(const wire::ProcessStartParams& params,
                                                           const process::Command& command);
process::Io ResolveIo(const wire::ProcessStartParams& params);

}  // namespace holdfast::exec_server
