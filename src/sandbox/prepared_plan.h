// A PreparedPlan is the plan of one command with all that the template of a launcher depends on. The server prepares
// the plan of each command that it starts, and a launcher that of its own flags. Only if their keys are equal does the
// launcher start the command.
//
// What it does not stop: a change between the preparation and the start. The mounts of the template stay with the files
// that the launcher has found, and a path that is mounted later is compared with `noted` once more.
#pragma once

#include <vector>

#include "base/result.h"
#include "sandbox/jail/mount_check.h"
#include "sandbox/native/launcher_protocol.h"
#include "sandbox/plan/plan.h"
#include "sandbox/resolve/walk_memory.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

struct PreparedPlan {
  NamespacePlan plan;             // its Landlock rules have the identities of the files that they are about
  std::vector<MountCheck> noted;  // the files that the plan mounts or covers, without the placeholders
  PlanKey key;
};

// Resolves the policy of the command and makes the plan for the native backend. This may block. The command is
// not needed apart from its directory, on which the key does not depend. Whether the command needs a port ruleset is
// told by `port_ruleset_fd`, but the descriptor is not used. `memory` makes patterns faster; it may be null.
Result<PreparedPlan> PreparePlan(const SandboxedCommand& command, WalkMemory* memory = nullptr);

}  // namespace holdfast::sandbox
