// A process gives up every capability for good. Root without capabilities is an ordinary user that owns root's files.
//
// What it does not stop: uid 0 can still do everything that the owner of a file may do. A process could also make a new
// user namespace, in which it has capabilities again; the seccomp filter refuses that.
#pragma once

#include "base/result.h"

namespace holdfast::sandbox {

// Empties the bounding set where that is permitted. A process that starts many others does it once for all of them:
// they have nothing left to take out of the set, which takes some time. The process keeps the capabilities that it has.
void EmptyBoundingSet();

// Empties all capability sets of this thread, also the bounding set where that is permitted, and sets no_new_privs.
// Reads the sets afterwards, and fails when a capability is left.
Result<> DropCapabilities();

}  // namespace holdfast::sandbox
