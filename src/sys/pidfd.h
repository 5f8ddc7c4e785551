// A child held by descriptor, so that no signal or wait can reach another process that got its number.
#pragma once

#include <sys/types.h>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

struct Child {
  pid_t pid = -1;
  OwnedFd pidfd;  // readable once the child has ended
};

// A child that is already gone is not an error.
void SendSignal(int pidfd, int signal);

enum class Ending { kStillRunning, kExitedCleanly, kOtherwise };

// Reaps the child if it has ended. kOtherwise: a non-zero exit code, or a signal.
Ending TryReap(int pidfd);

}  // namespace holdfast::sys
