// From a patch to the plan of its writes.
#pragma once

#include "apply_patch/patch.h"
#include "apply_patch/plan.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Operations see what the ones before them would have left. Files that are updated or will be overwritten are read, and
// opened for writing to see whether that is allowed; nothing is changed.
Result<Plan> MakePlan(const Patch& patch);

}  // namespace holdfast::apply_patch
