// The startup warnings say to the operator of a server why sandboxed commands will fail, before the first one does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/surroundings.h"
#include "sandbox/backend.h"
#include "sandbox/jail/host_limits.h"
#include "sandbox/native/trial.h"

namespace holdfast::doctor {

// Returns one sentence for each warning about the sandboxes of a server with this backend, which is kAuto, kNative or
// kBubblewrap; none if sandboxes work here as they should. `native` is the result of a trial of the native backend
// (sandbox/native/trial.h), which is not needed for kBubblewrap. Where bubblewrap is going to be used, this function
// blocks for one run of it, which takes about 10 ms and at most 3 s. A server must not block, so it runs `holdfast
// doctor --startup` in a process of its own. There is no warning about a run that takes longer, or that fails for a
// reason that sandbox::ExplainFailure does not know.
std::vector<std::string> StartupWarnings(const Surroundings& surroundings, const sandbox::HostFacts& facts,
                                         sandbox::Backend backend, const std::optional<sandbox::NativeFailure>& native);

// Tries the native backend if it may be used, in a program that has no threads.
std::vector<std::string> StartupWarnings(sandbox::Backend backend);

}  // namespace holdfast::doctor
