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

// Opens a pidfd that becomes readable when a thread ends. Before Linux 6.9 there is none for a thread that is not the
// first one of its process; then it is that of `process`, to which the thread belongs.
Result<OwnedFd> OpenThreadPidfd(pid_t tid, pid_t process);

// Returns a close-on-exec copy of the descriptor `number` of another process. If it is not open, errno has the reason.
OwnedFd TakeFd(int pidfd, int number);

// Sends a signal. It is not an error if the child has already ended.
void SendSignal(int pidfd, int signal);

// Returns whether a process has ended, whether it is a child or not.
bool HasEnded(int pidfd);

// Waits for the end of a process, whether it is a child or not. Fails if that is not possible.
Result<> AwaitEnd(int pidfd);

// Kills a process, whether it is a child or not, and waits for its end. When pid 1 of a namespace has ended, all
// processes in the namespace have. A child still has to be reaped. Fails if it is not possible to wait for the process,
// which may still be alive then.
Result<> KillAndAwaitEnd(int pidfd);

enum class Ending { kStillRunning, kExitedCleanly, kOtherwise };

// Reaps the child if it has ended. kOtherwise means that the child ended with a non-zero exit code or by a signal, or
// that it has been reaped already and the kernel does not keep its status (exit_status.h).
Ending TryReap(int pidfd);

}  // namespace holdfast::sys
