// The things that a program inherits from the process that executes it. A command that runs outside in its place gets
// the same.
#pragma once

#include <vector>

#include "base/result.h"
#include "escalate/stand_in/process_state.h"

namespace holdfast::escalate {

// Returns the descriptors that are not close-on-exec, in the order of their numbers, without `left_out`.
Result<std::vector<int>> InheritedFds(int left_out);

ProcessState InheritedState();

}  // namespace holdfast::escalate
