// The part of a request to a jail that may take long to make, because it needs the plan: the record of the plan, by
// which a jail is found or started, and the entry of the command.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "process/command/command.h"
#include "process/command/environment.h"
#include "sandbox/helper_command/server_access.h"
#include "sandbox/native/jail_entry.h"
#include "sandbox/plan/planner.h"
#include "sandbox/policy/sandbox_spec.h"
#include "sandbox/resolve/walk_memory.h"

namespace holdfast::sandbox {

// The name of a plan.
using PlanDigest = std::array<unsigned char, 32>;

struct JailWanted {
  std::string plan;  // the record of the JailPlan
  PlanDigest digest;
  std::shared_ptr<const OwnedFd> port_ruleset;  // null unless the plan shuts a port
};

struct PlannedEntry {
  JailWanted jail;
  JailEntry entry;
};

// A start that is to be planned. It has copies of everything, because the worker that plans may be stuck on a dead
// mount when the start has been cancelled.
struct EntryRequest {
  std::optional<process::Command> command;  // absent: the file helper
  process::Environment variables;           // that the command gets
  std::optional<std::string> kept_variable;
  bool has_terminal = false, is_supervised = false;
  SandboxSpec sandbox;
  CommandPlace place;
  Guarded guarded;
  ServerAccess server_access;
  Result<std::shared_ptr<const OwnedFd>> given_roots;
  std::shared_ptr<WalkMemory> memory;
};

// Plans for the command, and makes its entry. This may block. Fails if the command cannot be started.
Result<PlannedEntry> PlanEntry(const EntryRequest& request);

}  // namespace holdfast::sandbox
