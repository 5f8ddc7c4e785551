// A fixed path is one that a process cannot make lead to another file: neither a directory nor a link that the lookup
// passes, nor the file itself, can be changed. It has to be fixed for the process itself and outside, because the
// sandbox of a process protects files only while that process runs: an earlier command with another policy may have
// written them.
//
// What none of these functions sees: Landlock rules, which forbid more, so that a path which they protect does not
// count as fixed; and processes of other users outside of the sandbox.
#pragma once

#include <sys/types.h>

#include <string>

#include "escalate/caller/caller_view.h"

namespace holdfast::escalate {

// Returns whether the process itself cannot change the path: everything on it is on a read-only mount, or its
// permissions keep the process from changing it. `root` is a descriptor of the root directory of the process.
bool IsFixedPath(int root, const std::string& path, const CallerState& caller);

// Returns whether no command of `user`, which is the user of this process, can change the path in any sandbox or
// outside: nothing on the path belongs to the user or is writable for it. To root nothing is forbidden, so for root
// everything on the path has to belong to root and to be writable for root alone.
bool IsFixedOutside(const std::string& path, uid_t user);

// Returns whether the path leads to a file of the system: everything on it belongs to root and is writable for root
// alone, and the file lies in a directory of the system.
bool IsOfSystem(const std::string& path);

}  // namespace holdfast::escalate
