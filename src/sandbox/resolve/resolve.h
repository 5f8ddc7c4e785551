// From a policy to the paths it is about, for one start of one command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/policy/policy.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

// Where the command is to run.
struct Surroundings {
  std::string policy_cwd;                  // absolute; need not exist
  std::vector<std::string> project_roots;  // absolute; empty: policy_cwd
  std::optional<std::string> tmpdir;       // temporary_directory.h; absent: the place is nowhere
};

// Fails when a pattern cannot be expanded safely, or a scan fails: nothing is run then.
Result<Resolution> Resolve(const Policy& policy, const Surroundings& surroundings);

}  // namespace holdfast::sandbox
