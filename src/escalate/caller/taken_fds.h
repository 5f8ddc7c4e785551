// The descriptors that a command outside gets: the standard streams that the calling process had when its call was
// judged, and others of the stub or the execve wrapper that stands in its place. A process could exchange its streams
// while a person is asked.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "escalate/caller/or_errno.h"
#include "escalate/outside/outside_order.h"

namespace holdfast::escalate {

// The number of descriptors that a command outside can get. Each is one of this program's own descriptors for a while.
inline constexpr size_t kMaxTakenFds = 1024;

// Returns copies of the standard streams that are open. Both functions fail with EAGAIN if this program holds too many
// descriptors of other processes at the moment (sys/foreign_fd.h).
OrErrno<std::vector<PassedFd>> TakeStandardStreams(int pidfd);

// Returns copies of all descriptors of a process but `except`. In the place of a standard stream it returns the one
// that was taken before; a stream that was not open then is left out. Fails with EMFILE if there are too many.
OrErrno<std::vector<PassedFd>> TakeDescriptors(pid_t process, int pidfd, int except, std::vector<PassedFd> streams);

// Returns the descriptors of `fds`, but in the place of each standard stream the one that was taken before, likewise.
std::vector<PassedFd> WithTakenStreams(std::vector<PassedFd> fds, std::vector<PassedFd> streams);

}  // namespace holdfast::escalate
