// The last stage before the command where there are no namespaces: the process that becomes the command gives up every
// capability, closes what is not to pass, and restricts itself by Landlock and a filter that stands in for namespaces
// and mounts.
//
// What it does not stop, and a sandbox of namespaces does: the command sees the processes of the machine, their command
// lines, and whether files exist that it may not read; what it leaves running, in a session of its own or not, goes on;
// it keeps the terminal of the caller, and connects to named sockets where it has a network. Before Landlock's ABI 6 it
// can send signals to other processes of the user.
//
// What it costs: modes, owners and times of files cannot be changed, not even where writing is allowed; there is no
// /dev/tty, no pseudoterminal, no /dev/shm and no shared memory.
#pragma once

#include <optional>

#include "base/result.h"
#include "sandbox/confine/seccomp_filter.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Before ABI 3 files that may only be read could be truncated.
inline constexpr int kOldestLandlockAbi = 3;

// Before ABI 6 signals are not kept inside.
inline constexpr int kLandlockAbiOfSignals = 6;

// What a kernel with this ABI, 0 being none, cannot do for the stage.
Result<> CheckLandlockAbi(int abi);

// For this process and all it starts, for good, with a plan of MakeLandlockPlan; the process has no threads and then
// executes the command. Of the descriptors above 2 only `report_fd` stays, and closes with the execution; the port
// ruleset (port_ruleset.h), if there is one, is entered. After an error some of it may hold already: nothing is to be
// run.
Result<> EnterLandlockStage(const Plan& plan, Caller caller, std::optional<int> report_fd,
                            std::optional<int> port_ruleset_fd = std::nullopt);

}  // namespace holdfast::sandbox
