// The inputs of a plan, taken from a SandboxedCommand. Every plan is made of these, so that a server, a launcher and a
// helper come to the same plan.
#pragma once

#include <expected>
#include <string>

#include "base/result.h"
#include "sandbox/outcome.h"
#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/resolve/made_links.h"
#include "sandbox/resolve/resolution.h"
#include "sandbox/resolve/walk_memory.h"
#include "sandbox/sandboxed_command.h"

namespace holdfast::sandbox {

// Returns the text of the profile. If the text is passed by a descriptor, that is closed afterwards.
std::expected<std::string, Failure> ReadProfileText(const SandboxedCommand& command);

// Returns the profile that the text describes.
std::expected<Profile, Failure> ReadProfile(const std::string& text);

// Returns the profile of the command. Its error, unlike a Failure, has no exit status of the helper.
Result<Profile> ProfileOf(const SandboxedCommand& command);

// `memory` makes patterns faster for a caller that resolves again; it may be null.
Result<Resolution> ResolutionFor(const Policy& policy, const SandboxedCommand& command, WalkMemory* memory = nullptr);

// The directories of private servers that are missing, and that the command could make under the resolution, are made.
PlanOptions OptionsFor(const SandboxedCommand& command, const Resolution& resolution, MountsBy mounts_by);

// Returns the links through which the command must get no writable root.
MadeLinks MadeLinksFor(const SandboxedCommand& command);

// Adds the writable roots of a plan to the list that the command was given. Called before anything is started.
Result<> RememberRoots(const SandboxedCommand& command, const NamespacePlan& plan);
Result<> RememberRoots(const SandboxedCommand& command, const LandlockPlan& plan);

// Returns the directory of holdfast's own programs.
std::string ProgramDirectory(const SandboxedCommand& command);

}  // namespace holdfast::sandbox
