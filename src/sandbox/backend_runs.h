// One function for each backend, which runs a job by it. All have the contract of RunOuterStage
// (bubblewrap/outer_stage.h): they return the command's exit status, or the reason why nothing was started. In the
// first case the report has been written; in the second nothing has, and another backend may be tried.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "sandbox/bubblewrap/bubblewrap.h"
#include "sandbox/jail/not_started.h"
#include "sandbox/job.h"
#include "sandbox/plan/landlock_plan.h"
#include "sandbox/plan/plan.h"

namespace holdfast::sandbox {

using Ran = std::expected<int, NotStarted>;

// The program of this process is out of the command's reach (own_image.h).
Ran RunUnderNative(const NamespacePlan& plan, const Job& job);

// `why` tells why no other backend is used, and is empty when this one was chosen. It goes into the report.
Ran RunUnderBubblewrap(const Bubblewrap& bubblewrap, const NamespacePlan& plan, const Job& job, const std::string& why);

// Returns the descriptor of --program-fd if it can be the program of bubblewrap's inner stage (jail/stage_image.h).
std::optional<int> SealedProgram(const Job& job);

// This process becomes the command. It returns only when that fails, or when the file helper has ended. After an error
// some restrictions may hold already, so no other backend can be tried.
Ran RunUnderLandlock(const LandlockPlan& plan, const Job& job, const std::string& why);

// Runs a job that needs no sandbox. This process becomes the command.
Ran RunDirectly(const Job& job);

}  // namespace holdfast::sandbox
