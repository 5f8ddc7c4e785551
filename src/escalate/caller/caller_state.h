// The state of a process that calls execve. All functions read /proc by the number of a thread: what they return counts
// only if that thread is known to exist afterwards.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "escalate/caller/or_errno.h"

namespace holdfast::escalate {

struct CallerState {
  pid_t process = 0;          // the thread group
  uint64_t capabilities = 0;  // the effective ones
  uid_t user = 0;             // the one that file permissions are checked for
};

OrErrno<CallerState> ReadCallerState(pid_t tid);

// Returns the path of the working directory, in the mount namespace of the process.
OrErrno<std::string> WorkingDirectoryOf(pid_t tid);

// Returns the path that a link in /proc/TID has, such as "exe" or "fd/3".
OrErrno<std::string> LinkOf(pid_t tid, const std::string& name);

}  // namespace holdfast::escalate
