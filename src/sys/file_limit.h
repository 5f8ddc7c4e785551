// The limit of descriptors that a process may have open.
#pragma once

#include <sys/resource.h>

#include "base/result.h"

namespace holdfast::sys {

// Raises the soft limit to the hard one and returns the limits from before, so that the caller can restore them for its
// children. A high limit is bad for programs that use select, or that close every descriptor up to the limit.
Result<rlimit> RaiseFileLimit();

}  // namespace holdfast::sys
