// The policies that have a name of their own. `.git` and the like need no entries here: resolution protects them below
// every writable root.
#pragma once

#include <optional>
#include <string_view>

#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

// "read-only": everything may be read, nothing written.
Policy ReadOnly();

// "workspace-write": everything may be read; the project, /tmp and $TMPDIR may be written.
Policy WorkspaceWrite();

// The one that is called so, or none.
std::optional<Policy> BuiltinPolicy(std::string_view name);

}  // namespace holdfast::sandbox
