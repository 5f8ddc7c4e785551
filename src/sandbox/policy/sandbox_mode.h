// The readers of codex's older settings in a profile file (profile_file.h): the key `sandbox_mode`, which names a
// legacy policy, and the table [sandbox_workspace_write], which has the settings of the policy workspace-write.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/toml_section.h"

namespace holdfast::sandbox {

// Reads the table [sandbox_workspace_write]. A key that is not known is an error. `home` is the directory that `~`
// stands for; it may be empty.
Result<WorkspaceSettings> ReadWorkspaceSettings(const TomlSection& section, std::string_view home);

// Returns the policy that a value of `sandbox_mode` names: read-only, workspace-write or danger-full-access, which is a
// disabled profile. The error is only the reason.
Result<Profile> ProfileOfMode(const toml::node& node, const WorkspaceSettings& settings);

}  // namespace holdfast::sandbox
