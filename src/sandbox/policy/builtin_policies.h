// The policies that a user can choose by name. They have no entries for protected names such as `.git`, because
// resolution protects these below every writable root.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sandbox/policy/policy.h"

namespace holdfast::sandbox {

// "read-only": everything may be read, nothing written.
Policy ReadOnly();

struct WorkspaceSettings {
  std::vector<AbsolutePath> writable_roots = {};  // besides the project
  Network network = Network::kRestricted;
  bool without_tmpdir = false, without_slash_tmp = false;
};

// "workspace-write": everything may be read; the project, /tmp and $TMPDIR may be written.
Policy WorkspaceWrite(const WorkspaceSettings& settings = {});

// Returns the policy with this name, or nothing if there is none.
std::optional<Policy> BuiltinPolicy(std::string_view name);

}  // namespace holdfast::sandbox
