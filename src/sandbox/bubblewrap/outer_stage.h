// The outer stage makes the placeholders, starts bubblewrap with the inner stage, passes signals on to the inner stage,
// and waits. When the process of the outer stage is killed, at whatever moment, everything that it started ends.
// bubblewrap gets nothing of the command's environment.
#pragma once

#include <expected>
#include <optional>

#include "sandbox/bubblewrap/bubblewrap.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/jail/not_started.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Runs the command and returns its exit status, 128 + N after signal N. When the inner stage has refused to start the
// command, that is the status of the inner stage. After an error nothing has been written to the `report_fd` of the
// orders; in every other case the report has been written, and the descriptor is closed. When a report has come, the
// standard streams of this process become /dev/null: it has to end with the status that is returned. `sealed_program`
// is a descriptor for stage_image.h.
std::expected<int, NotStarted> RunOuterStage(const Bubblewrap& bubblewrap, const NamespacePlan& plan,
                                             const InnerOrders& orders,
                                             std::optional<int> sealed_program = std::nullopt);

}  // namespace holdfast::sandbox
