// Resolve turns a policy into the paths that it is about, for one start of one command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/policy.h"
#include "sandbox/resolve/resolution.h"
#include "sandbox/resolve/walk_memory.h"

namespace holdfast::sandbox {

// The directories that the places of a policy stand for, and the memory of earlier walks.
struct Surroundings {
  std::string policy_cwd;                  // absolute; need not exist
  std::vector<std::string> project_roots;  // absolute; when empty, policy_cwd is the only root
  std::optional<std::string> tmpdir;       // temporary_directory.h; when absent, `:tmpdir` stands for no path
  WalkMemory* memory = nullptr;            // makes patterns faster for a caller that resolves again; may be null
};

// Fails when a pattern cannot be expanded safely, or when a scan fails. The command must not be started then.
Result<Resolution> Resolve(const Policy& policy, const Surroundings& surroundings);

}  // namespace holdfast::sandbox
