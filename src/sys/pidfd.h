// Processes that are referred to by a descriptor, so that no signal or wait can reach another process that has got the
// same pid.
#pragma once

#include <sys/types.h>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

struct Child {
  pid_t pid = -1;
  OwnedFd pidfd;  // readable once the child has ended
};

// Opens a close-on-exec pidfd. The caller must know that the pid still belongs to the intended process.
Result<OwnedFd> OpenPidfd(pid_t pid);

// Sends a signal. It is no error if the child has already ended.
void SendSignal(int pidfd, int signal);

// Returns whether a process has ended, whether it is a child or not.
bool HasEnded(int pidfd);

// Kills a process, whether it is a child or not, and waits for its end. When pid 1 of a namespace has ended, all
// processes in the namespace have. A child still has to be reaped. Fails if it is not possible to wait for the process,
// which may still be alive then.
Result<> KillAndAwaitEnd(int pidfd);

enum class Ending { kStillRunning, kExitedCleanly, kOtherwise };

// Reaps the child if it has ended. kOtherwise means that the child ended with a non-zero exit code or by a signal, or
// that it has been reaped already and the kernel does not keep its status (exit_status.h).
Ending TryReap(int pidfd);

}  // namespace holdfast::sys
