// The native backend builds the sandbox itself: one clone3 makes the namespaces and pid 1, and pid 1 makes the mounts
// by descriptor (mount_builder.h) before it becomes the inner stage. No other program takes part, and what is mounted
// is the very file that was checked.
#pragma once

#include <expected>

#include "sandbox/jail/inner_orders.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/jail/not_started.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Runs the command and returns its exit status, under the contract of RunOuterStage (bubblewrap/outer_stage.h). The
// caller has a single thread. `built_in` is the function that runs if the orders ask for one. The program of the
// calling process becomes that of pid 1, so it has to be one that the command cannot change (own_image.h).
std::expected<int, NotStarted> RunNative(const NamespacePlan& plan, const InnerOrders& orders, BuiltIn built_in);

}  // namespace holdfast::sandbox
