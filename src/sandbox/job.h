// A job is the command that the helper has to run, together with what the helper has derived from it: its policy as a
// value, and the proxies that are its network. The functions here prepare a job, and restrict nothing.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/jail/inner_orders.h"
#include "sandbox/outcome.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/policy.h"
#include "sandbox/proxy/routes.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

struct Job {
  const SandboxedCommand& asked;
  Policy policy;
  std::string profile = {};  // the text that the policy was read from; a descriptor can be read only once
  std::string_view called_as = {};
  BuiltIn built_in = nullptr;  // the file helper, if it runs instead of a command
  bool needs_sandbox = true;
  std::optional<ProxyRoutes> routes = {};  // the proxies, where they are the only network
};

// Returns whether the command needs a sandbox at all. A disabled profile asks for none. The file helper uses no
// network, so it needs one only where the policy restricts files.
bool NeedsSandbox(const SandboxedCommand& command, const Profile& profile);

// Reads the profile of the command and finds its proxies. `file_helper` is null in a program that has none.
std::expected<Job, Failure> MakeJob(const SandboxedCommand& command, std::string_view called_as, BuiltIn file_helper);

// Returns the failure of a policy that cannot be enforced.
std::unexpected<Failure> CannotEnforce(Error why);

}  // namespace holdfast::sandbox
