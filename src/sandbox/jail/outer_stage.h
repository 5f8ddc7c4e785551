// The stage outside: makes the mount points, starts bubblewrap with the inner stage, passes signals on to it and waits.
// When this process is killed, at whatever moment, everything it started ends. bubblewrap sees nothing of the command's
// environment.
#pragma once

#include <expected>
#include <optional>
#include <utility>

#include "base/result.h"
#include "sandbox/jail/bubblewrap.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

// Why no command has been started. kBubblewrap: it could not do what it was told, in its own words, with what is known
// of their cause; that may be the machine's fault or a path's (namespace_trial.h). kRefused: something is not as the
// plan has it, and to go on with less would be wrong.
struct NotStarted {
  enum class By { kBubblewrap, kRefused };

  // Implicit: what fails on the way is a refusal.
  NotStarted(Error why, By cause = By::kRefused)  // NOLINT(google-explicit-constructor)
      : error(std::move(why)), by(cause) {}

  Error error;
  By by;
};

// The command's exit status, 128 + N after a signal, also when the inner stage has refused to start it. After an error
// nothing has been said on the orders' `report_fd`; in every other case one line has, and it is closed. When a command
// is started, this process's own standard streams become /dev/null: it is to end with what is returned.
// `sealed_program` is a descriptor: see stage_image.h.
std::expected<int, NotStarted> RunOuterStage(const Bubblewrap& bubblewrap, const Plan& plan, const InnerOrders& orders,
                                             std::optional<int> sealed_program = std::nullopt);

}  // namespace holdfast::sandbox
