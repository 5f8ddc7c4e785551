// The inner stage is the last stage before the command. It is pid 1 inside the namespaces. It gives up every
// capability, closes the descriptors that the command must not have, restricts itself, and starts the command under the
// same restrictions. Then it reaps orphans and passes signals on. When the outer stage is gone, the inner stage ends,
// and everything inside with it.
//
// What it does not stop: what the mounts, the filter and Landlock together leave open; anything done through
// descriptors 0, 1, 2 and those that are passed on purpose. The command sees of pid 1 what any process may see of
// another: its arguments, name, status and mounts, but not its memory, environment, descriptors or directories.
#pragma once

#include "sandbox/jail/inner_orders.h"
#include "sandbox/jail/placeholder_reaper.h"

namespace holdfast::sandbox {

// The exit status of a stage that cannot enforce its orders, and has started nothing.
inline constexpr int kRefusedStatus = 101;
// The status of such a stage in its report, where a file was removed or replaced meanwhile (not_started.h). The outer
// stage does not pass this report on, because it may make another attempt.
inline constexpr int kOutOfDateStatus = 102;

// Runs the inner stage. The caller must be pid 1 and have no other threads, and ends with the status that is returned:
// the command's exit code, 128 + N after signal N, 126 or 127 as in a shell when the command cannot be executed, 1 when
// its working directory cannot be entered. When the command has ended, everything else in the pid namespace is killed.
// The reason why a command was not started is written to stderr and to the descriptor for the report. `built_in` runs
// in a child when the orders ask for it in place of a program. The reaper of `reaped` removes the placeholders of the
// command and tells the server of its end; without a reaper the stage tells the server itself, if the orders name a
// control socket.
int RunInnerStage(const InnerOrders& orders, BuiltIn built_in = nullptr, const ReapedCommand& reaped = {});

}  // namespace holdfast::sandbox
