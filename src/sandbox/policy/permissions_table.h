// The reader of a table [permissions.NAME] of a profile file (profile_file.h).
#pragma once

#include <string_view>

#include "base/result.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/toml_section.h"

namespace holdfast::sandbox {

// Returns the policy that the table describes. `home` is the directory that `~` stands for; it may be empty. A key that
// is not known is an error.
Result<Policy> ReadPermissions(const TomlSection& section, std::string_view home);

}  // namespace holdfast::sandbox
