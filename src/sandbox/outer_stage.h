// The stage outside: makes the mount points, starts bubblewrap with the inner stage, passes signals on to it and waits.
// When this process is killed, everything it started dies with it.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/bubblewrap.h"
#include "sandbox/inner_stage.h"
#include "sandbox/plan.h"

namespace holdfast::sandbox {

// The first word of the inner stage's command line; the second is the number of a descriptor with its orders.
inline constexpr char kInnerStage[] = "inner-stage";

// The command's exit status, 128 + N after a signal. An error means that the command has not been started.
Result<int> RunOuterStage(const Bubblewrap& bubblewrap, const Plan& plan, const InnerOrders& orders);

}  // namespace holdfast::sandbox
