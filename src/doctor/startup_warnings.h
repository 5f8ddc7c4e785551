// The startup warnings tell the operator of a server why sandboxed commands will fail, before the first one does.
#pragma once

#include <string>
#include <vector>

#include "doctor/surroundings.h"
#include "sandbox/jail/host_limits.h"

namespace holdfast::doctor {

// Returns one sentence for each warning; none if sandboxes work here. It blocks for one run of bubblewrap, which takes
// about 10 ms and at most 3 s. A server must not block, so it runs `holdfast doctor --startup` in a process of its own.
// There is no warning about a run that takes longer, or that fails for a reason that sandbox::Explain does not know.
std::vector<std::string> StartupWarnings(const Surroundings& surroundings, const sandbox::HostFacts& facts);
std::vector<std::string> StartupWarnings();

}  // namespace holdfast::doctor
