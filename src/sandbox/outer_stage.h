// The stage outside: makes the mount points, starts bubblewrap with the inner stage, passes signals on to it and waits.
// When this process is killed, at whatever moment, everything it started ends. bubblewrap sees nothing of the command's
// environment.
#pragma once

#include <optional>

#include "base/result.h"
#include "sandbox/bubblewrap.h"
#include "sandbox/inner_stage.h"
#include "sandbox/plan.h"

namespace holdfast::sandbox {

// The first word of the inner stage's command line; the second is the number of a descriptor with its orders.
inline constexpr char kInnerStage[] = "inner-stage";

// The command's exit status, 128 + N after a signal. An error means that the command has not been started: with
// bubblewrap's words and what is known of their cause. On the orders' `report_fd` then nothing has been said; in
// every other case one line has, and it is closed. When a command is started, this process's own standard streams
// become /dev/null: it is to end with what is returned.
// `sealed_program` is a descriptor: see stage_image.h.
Result<int> RunOuterStage(const Bubblewrap& bubblewrap, const Plan& plan, const InnerOrders& orders,
                          std::optional<int> sealed_program = std::nullopt);

}  // namespace holdfast::sandbox
