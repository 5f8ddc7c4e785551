// MakePlan turns a resolution into the plan that enforces it.
#pragma once

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/made_links.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

// Returns the system call filter for a command with this network.
Filter FilterFor(Network network, const PlanOptions& options);

// Fails when a rule cannot be enforced, such as a rule whose path crosses a link that the command could change. The
// sandbox has its own /dev and /proc, so a rule that grants /dev, or anything in /proc, has no effect.
Result<NamespacePlan> MakePlan(const Resolution& resolution, const PlanOptions& options, const MadeLinks& made = {});

}  // namespace holdfast::sandbox
