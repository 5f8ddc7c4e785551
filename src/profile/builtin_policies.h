// The policies that have a name of their own. `.git` and the like need no entries here: resolution protects them below
// every writable root.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "sandbox/policy.h"

namespace holdfast::profile {

inline constexpr std::array<std::string_view, 2> kBuiltinNames = {"read-only", "workspace-write"};

// Everything may be read, nothing written.
sandbox::Policy ReadOnly();

// Everything may be read; the project, /tmp and $TMPDIR may be written.
sandbox::Policy WorkspaceWrite();

// One of kBuiltinNames, or nothing.
std::optional<sandbox::Policy> BuiltinPolicy(std::string_view name);

}  // namespace holdfast::profile
