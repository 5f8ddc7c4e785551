// From a resolution to the plan that enforces it.
#pragma once

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

// What is refused to a command with such a network.
Filter FilterFor(Network network, const PlanOptions& options);

// Fails when a rule cannot be enforced, such as one whose path goes through a link that the command could change.
// /dev and /proc are the sandbox's own: to grant /dev, or anything in /proc, adds nothing to them.
Result<Plan> MakePlan(const Resolution& resolution, const PlanOptions& options);

}  // namespace holdfast::sandbox
