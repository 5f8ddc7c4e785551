// Apply carries out a plan as a whole. If a step fails, it undoes everything that it has changed.
#pragma once

#include "apply_patch/plan.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Files are overwritten in place. A name that is to be removed is only renamed until all other steps are done. When a
// step fails, the steps before it are undone from the last to the first: content and times of files, names,
// directories. The error then states that every file is as it was, or names the paths that could not be restored.
// Signals are blocked until the end.
//
// What it does not protect against: SIGKILL, a crash, or another program that writes the same files.
Result<> Apply(const Plan& plan);

}  // namespace holdfast::apply_patch
