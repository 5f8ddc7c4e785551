// Giving up every capability for good. Root without capabilities is a user who owns root's files.
//
// What it does not take away: what uid 0 may do as the owner of files, and what the seccomp filter is for, such as new
// user namespaces, in which a process has capabilities again.
#pragma once

#include "base/result.h"

namespace holdfast::sandbox {

// Empties all sets of this thread, also the bounding set where that is permitted, sets no_new_privs, and looks: fails
// when one is left.
Result<> DropCapabilities();

}  // namespace holdfast::sandbox
