// A plan that uses only Landlock and the filter, without namespaces and mounts. Only simple policies can be enforced in
// this way: everything may be read, and some paths may be written.
//
// What it refuses: a policy under which a path may not be read, or a path inside of a writable directory may only be
// read, because Landlock cannot deny access below a path that it grants. Resolution makes protected names below every
// writable root read-only, so a policy with such a root fits only if its rules open these names too.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/plan_options.h"
#include "sandbox/resolve/made_links.h"
#include "sandbox/resolve/resolution.h"

namespace holdfast::sandbox {

struct LandlockPlan {
  std::string working_directory;
  Filter filter = Filter::kRestrictedNetwork;
  std::vector<LandlockRule> landlock;  // empty: the policy does not restrict files
};

// Fails with kInvalidRequest, and names the rule that does not fit.
Result<LandlockPlan> MakeLandlockPlan(const Resolution& resolution, const PlanOptions& options,
                                      const MadeLinks& made = {});

// Returns the plan as text, one line for each step.
std::string Text(const LandlockPlan& plan);

}  // namespace holdfast::sandbox
