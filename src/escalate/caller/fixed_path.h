// A fixed path is one that a process cannot make lead to another file: every directory and every link that the lookup
// passes, and the file itself, is on a read-only mount, or its permissions keep the process from changing it.
//
// What it does not see: Landlock rules, which forbid more, so that a path which they protect does not count as fixed;
// and processes outside of the sandbox, which may change any path.
#pragma once

#include <string>

#include "escalate/caller/caller_state.h"

namespace holdfast::escalate {

// `root` is a descriptor of the root directory of the process.
bool IsFixedPath(int root, const std::string& path, const CallerState& caller);

}  // namespace holdfast::escalate
