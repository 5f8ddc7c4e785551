// The inputs of a plan, taken from a SandboxedCommand. Every plan is made of these, so that a server, a launcher and a
// helper come to the same plan.
#pragma once

#include <expected>
#include <string>

#include "base/result.h"
#include "sandbox/outcome.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/resolve/resolution.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Reads the profile, from its descriptor if it is passed by one. The descriptor is closed then.
std::expected<Profile, Failure> ReadProfile(const SandboxedCommand& command);

Result<Resolution> ResolutionFor(const Policy& policy, const SandboxedCommand& command);

PlanOptions OptionsFor(const SandboxedCommand& command);

// Returns the directory of holdfast's own programs.
std::string ProgramDirectory(const SandboxedCommand& command);

}  // namespace holdfast::sandbox
