// The policies that have a name of their own. `.git` and the like need no entries here: resolution protects them below
// every writable root.
#pragma once

#include <optional>
#include <string_view>

#include "sandbox/policy.h"

namespace holdfast::profile {

// "read-only": everything may be read, nothing written.
sandbox::Policy ReadOnly();

// "workspace-write": everything may be read; the project, /tmp and $TMPDIR may be written.
sandbox::Policy WorkspaceWrite();

// The one that is called so, or none.
std::optional<sandbox::Policy> BuiltinPolicy(std::string_view name);

}  // namespace holdfast::profile
