// A plan that uses only Landlock and the filter, without namespaces and mounts. Only simple policies can be enforced in
// this way: everything may be read, and some paths may be written.
//
// What it refuses: a policy under which a path may not be read, or a path inside of a writable directory may only be
// read, because Landlock cannot deny access below a path that it grants. Resolution makes protected names below every
// writable root read-only, so a policy with such a root fits only if its rules open these names too.
#pragma once

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

// Fails with kInvalidRequest, and names the rule that does not fit. A plan without restrictions on files has no
// Landlock rules.
Result<Plan> MakeLandlockPlan(const Resolution& resolution, const PlanOptions& options);

}  // namespace holdfast::sandbox
