// A plan is carried out, or everything it has changed is put back.
#pragma once

#include "apply_patch/plan.h"
#include "base/result.h"

namespace holdfast::apply_patch {

// Files are written in place. What is removed is only renamed until all else is done. When a step fails, the steps
// before it are undone from the last to the first: content and times of files, names, directories. The error says so,
// or names the paths that could not be put back. Signals wait until the end.
//
// What it does not stop: SIGKILL, a crash, or another program that writes the same files.
Result<> Apply(const Plan& plan);

}  // namespace holdfast::apply_patch
