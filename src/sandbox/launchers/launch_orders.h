// The part of a request to a launcher that may take long to make, because it needs the plan of the command: the plan
// key, and the orders of pid 1.
#pragma once

#include "base/owned_fd.h"
#include "base/result.h"
#include "process/command/command.h"
#include "process/command/environment.h"
#include "sandbox/native/launcher_protocol.h"
#include "sandbox/resolve/walk_memory.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

struct LaunchOrders {
  PlanKey plan_key;
  OwnedFd orders;  // the InnerOrders in a memory file, without the descriptors that pid 1 gets with the request
};

// Makes the orders of `command`, which gets `variables`. `described` is what SandboxProgram::Describe returns for it.
// `memory` is that of the server's earlier plans. This may block. Fails if no launcher can start the command, or if the
// command cannot be started at all; the helper then finds out why.
Result<LaunchOrders> MakeLaunchOrders(const SandboxedCommand& described, const process::Command& command,
                                      const process::Environment& variables, WalkMemory& memory);

}  // namespace holdfast::sandbox
