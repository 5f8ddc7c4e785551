// The limit of descriptors that a process may have open.
#pragma once

#include <sys/resource.h>

#include "base/result.h"

namespace holdfast::sys {

// Raises the soft limit nearly to the hard one and returns the limits from before, so that the caller can restore them
// for its children. A high limit is bad for programs that use select, or that close every descriptor up to the limit.
Result<rlimit> RaiseFileLimit();

// The soft limit that RaiseFileLimit sets. The rest, at most 512 descriptors, is the reserve.
rlim_t UsualFileLimit(rlim_t hard_limit);

// The limits of commands, for a process that had the limits `own` before RaiseFileLimit. The kernel counts the
// descriptors that all processes of a user have sent and nobody has received, and refuses every further one to a sender
// whose soft limit is lower than the count. The hard limit of commands is therefore clearly below the soft limit that
// RaiseFileLimit sets: a command that uses up its own does not keep this process from sending.
rlimit FileLimitOfCommands(const rlimit& own);

// The limits of helpers, which send descriptors too: half way between those of commands and the server's. A helper
// calls LowerFileLimit right before it becomes the command.
rlimit FileLimitOfHelpers(const rlimit& own);
Result<> LowerFileLimit();

// Lets the process open as many descriptors as the hard limit allows while the object exists, for a call that must not
// fail for want of descriptors. One thread at a time has the reserve; others wait for it, so the call must not block.
//
// What it does not stop: another thread that opens files in the same moment also gets them from the reserve.
class FdReserve {
 public:
  FdReserve();
  ~FdReserve();
  FdReserve(const FdReserve&) = delete;
  FdReserve& operator=(const FdReserve&) = delete;

 private:
  rlimit usual_;
};

}  // namespace holdfast::sys
