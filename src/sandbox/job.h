// A job is the command that the helper has to run, with its profile as a value and the proxies that are its network.
// The functions here prepare a job, and restrict nothing.
#pragma once

#include <expected>
#include <optional>
#include <string_view>

#include "sandbox/jail/inner_orders.h"
#include "sandbox/outcome.h"
#include "sandbox/plan/planner.h"
#include "sandbox/proxy/routes.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

struct Job {
  SandboxedCommand asked;  // with the profile that was read
  std::string_view called_as = {};
  BuiltIn built_in = nullptr;              // the file helper, if it runs instead of a command
  std::optional<ProxyRoutes> routes = {};  // the proxies, where they are the only network
};

// Returns whether the command needs a sandbox at all. A disabled profile asks for none. The file helper uses no
// network, so it needs one only where the policy restricts files.
bool NeedsSandbox(const SandboxedCommand& command);

// Reads the profile of the command and finds its proxies. `file_helper` is null in a program that has none.
std::expected<Job, Failure> MakeJob(SandboxedCommand command, std::string_view called_as, BuiltIn file_helper);

// Resolves the policy of the command.
Result<Planner> PlannerFor(const SandboxedCommand& command);

// Returns the failure of a policy that cannot be enforced.
std::unexpected<Failure> CannotEnforce(Error why);

}  // namespace holdfast::sandbox
