// How many descriptors a process may open.
#pragma once

#include <sys/resource.h>

#include "base/result.h"

namespace holdfast::sys {

// Raises the soft limit to the hard one and returns what it was, so that children can be given it back: programs that
// use select, or close every descriptor up to the limit, do badly with a high one.
Result<rlimit> RaiseFileLimit();

}  // namespace holdfast::sys
