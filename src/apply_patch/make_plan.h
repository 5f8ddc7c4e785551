// The planner, which makes a plan of writes from a patch.
#pragma once

#include "apply_patch/patch.h"
#include "apply_patch/plan.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Makes a plan without changing anything. Each operation sees the files as the operations before it would leave them.
// Files that will be updated or overwritten are read, and opened for writing to find out whether that is allowed.
Result<Plan> MakePlan(const Patch& patch);

}  // namespace holdfast::apply_patch
