// The Landlock stage is the last stage before the command where there are no namespaces. The process that becomes the
// command gives up every capability, closes the descriptors that the command must not have, and restricts itself by
// Landlock and by a filter that does what it can in the place of namespaces and mounts.
//
// What it does not stop, unlike a sandbox with namespaces: the command sees the processes of the machine, their command
// lines, and whether files exist that it may not read. Processes that it leaves behind, in a session of their own or
// not, go on running. It keeps the terminal of the caller, and can connect to named sockets where it has a network.
// Before Landlock's ABI 6 it can send signals to other processes of the user.
//
// The command pays for it: it cannot change modes, owners and times of files, not even where it may write, and it has
// no /dev/tty, no pseudoterminal, no /dev/shm and no shared memory.
#pragma once

#include <optional>

#include "base/result.h"
#include "sandbox/confine/seccomp_filter.h"
#include "sandbox/plan/landlock_plan.h"

namespace holdfast::sandbox {

// The oldest ABI that will do. Before ABI 3, a command could truncate files that it may only read.
inline constexpr int kOldestLandlockAbi = 3;

// From this ABI on, a command can send no signals to processes outside.
inline constexpr int kLandlockAbiOfSignals = 6;

// Fails, with the reason, when a kernel with this ABI cannot enforce the stage. ABI 0 means that there is no Landlock.
Result<> CheckLandlockAbi(int abi);

// The descriptors above 2 that stay open until the execution of the command.
struct LandlockStageFds {
  std::optional<int> report = {};
  std::optional<int> port_ruleset = {};     // port_ruleset.h; it is entered
  std::optional<int> exec_supervisor = {};  // exec_layer.h
  std::optional<int> kept = {};             // the caller lets the command inherit it
};

// Restricts this process and all that it starts, for good, by a plan. The process must have no other threads, and
// executes the command afterwards. After an error some of the restrictions may hold already, and the caller must not
// run anything.
Result<> EnterLandlockStage(const LandlockPlan& plan, Caller caller, const LandlockStageFds& fds);

}  // namespace holdfast::sandbox
