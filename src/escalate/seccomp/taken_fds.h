// The descriptors of a stub, which the command outside gets in its place.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "escalate/caller/or_errno.h"
#include "escalate/outside/outside_command.h"

namespace holdfast::escalate {

// The number of descriptors that a command outside can get. Each is one of this program's own descriptors for a while.
inline constexpr size_t kMaxTakenFds = 1024;

// Returns copies of all descriptors of a process but one. Fails with EMFILE if there are too many, and with EAGAIN if
// this program holds too many of other processes at the moment (sys/foreign_fd.h).
OrErrno<std::vector<PassedFd>> TakeDescriptors(pid_t process, int pidfd, int except);

}  // namespace holdfast::escalate
