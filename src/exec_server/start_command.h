// From the params of process/start to a command that can be spawned, or to the reason why not.
#pragma once

#include "base/result.h"
#include "exec_server/config.h"
#include "process/command.h"
#include "wire/process_start_messages.h"

namespace holdfast::exec_server {

Result<process::Command> ResolveCommand(const wire::ProcessStartParams& params, const Config& config,
                                        const process::Environment& server_environment);
process::Io ResolveIo(const wire::ProcessStartParams& params);

}  // namespace holdfast::exec_server
