// The startup warnings tell the operator of a server why sandboxed commands will fail, before the first one does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/surroundings.h"
#include "sandbox/jail/host_limits.h"
#include "sandbox/native/trial.h"

namespace holdfast::doctor {

// Returns one sentence for each warning; none if sandboxes work here as they should. `native` is the result of a trial
// of the native backend (sandbox/native/trial.h). Where it does not work, this function blocks for one run of
// bubblewrap, which takes about 10 ms and at most 3 s. A server must not block, so it runs `holdfast doctor --startup`
// in a process of its own. There is no warning about a run that takes longer, or that fails for a reason that
// sandbox::ExplainFailure does not know.
std::vector<std::string> StartupWarnings(const Surroundings& surroundings, const sandbox::HostFacts& facts,
                                         const std::optional<sandbox::NativeFailure>& native);

// Tries the native backend, in a program that has no threads.
std::vector<std::string> StartupWarnings();

}  // namespace holdfast::doctor
