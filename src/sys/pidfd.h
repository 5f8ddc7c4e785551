// A process held by descriptor, so that no signal or wait can reach another one that got its number.
#pragma once

#include <sys/types.h>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

struct Child {
  pid_t pid = -1;
  OwnedFd pidfd;  // readable once the child has ended
};

// Close-on-exec. The caller knows that the number is still that of the process it means.
Result<OwnedFd> OpenPidfd(pid_t pid);

// A child that is already gone is not an error.
void SendSignal(int pidfd, int signal);

// Returns whether a process, a child or not, has ended.
bool HasEnded(int pidfd);

// Kills a process, a child or not, and waits for its end. Pid 1 of a namespace has ended when all in it have. A child
// is still to be reaped. Fails when it cannot be waited for: it may be alive then.
Result<> KillAndAwaitEnd(int pidfd);

enum class Ending { kStillRunning, kExitedCleanly, kOtherwise };

// Reaps the child if it has ended. kOtherwise: a non-zero exit code, or a signal; or the child has been reaped already,
// and the kernel does not keep its status (exit_status.h).
Ending TryReap(int pidfd);

}  // namespace holdfast::sys
