// The resource limits of a stub, which the command outside gets in its place.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <vector>

namespace holdfast::escalate {

// Returns the limits of a process in the order of their RLIMIT_ numbers; an empty list if the process has ended, or if
// this program may not read them.
std::vector<rlimit> TakeLimits(pid_t process);

}  // namespace holdfast::escalate
