// A plan for Landlock and the filter alone, without namespaces and mounts. Only the legacy model can be said so:
// everything may be read, and some places written.
//
// What it refuses: a place that may not be read, and one that may be read only inside of one that may be written,
// because Landlock takes nothing back below what it grants. Protected names lie directly below every writable
// directory; a policy with one fits only if rules open these names too.
#pragma once

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

// kInvalidRequest names the rule that does not fit. Without restrictions on files there are no Landlock rules.
Result<Plan> MakeLandlockPlan(const Resolution& resolution, const PlanOptions& options);

}  // namespace holdfast::sandbox
