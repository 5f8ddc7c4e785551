// The last stage before the command, inside the namespaces: pid 1. It gives up every capability, closes what is not to
// pass, restricts itself and starts the command under the same restrictions, reaps what becomes its child, and passes
// signals on. It ends, and everything inside with it, when the outer stage is gone.
//
// What it does not stop: what the mounts, the filter and Landlock together leave open; anything done through
// descriptors 0, 1, 2 and those passed on purpose. The command sees of pid 1 what any process may: its arguments, name,
// status and mounts, but no memory, environment, descriptors or directories.
#pragma once

#include "sandbox/jail/inner_orders.h"

namespace holdfast::sandbox {

// The stage cannot guarantee what it promises, and has started nothing.
inline constexpr int kRefusedStatus = 101;

// To be called by a pid 1 without threads that ends with what is returned: the command's exit code, 128 + N after
// signal N, 126 and 127 as a shell has them when it cannot be executed, 1 without its working directory. When the
// command has ended, everything else in the pid namespace is killed. Says on stderr, and on the descriptor for it, why
// a command was not started. `built_in` is what orders without a program run, in a child.
int RunInnerStage(const InnerOrders& orders, BuiltIn built_in = nullptr);

}  // namespace holdfast::sandbox
