// Functions that open files relative to a directory, with control over symbolic links. They use openat2, or open one
// name of the path after the other where it is not available.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

// The places of a path at which symbolic links are followed: anywhere, anywhere but at its end, or nowhere. With kNone
// a link anywhere in the path is an error.
enum class Links { kFollow, kFollowToLast, kNone };

// Opens `path` relative to `directory`, which may be AT_FDCWD. The descriptor is close-on-exec, and a terminal does not
// become the controlling terminal, whatever the flags are. EINTR is retried. The error names `path`.
Result<OwnedFd> OpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode = 0);

// Does the same for callers that distinguish errors. Returns a descriptor or -errno.
int TryOpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode = 0);

// Does the same, but only if the kernel has the path in memory. Returns a descriptor or -errno, which is -EAGAIN if the
// kernel would have to ask a disk or a server. Devices are not opened. Only with O_PATH is it sure that the open itself
// does not block.
int OpenCached(const std::string& path, int flags, Links links);

// Does the same relative to a directory. Returns -ENOSYS before Linux 5.12, which cannot restrict an open in this way.
int OpenCachedAt(int directory, const std::string& path, int flags, Links links);

// Opens `path` as a process does whose root directory is `root`: neither a link nor ".." leads out of it. Returns a
// descriptor, close-on-exec, or -errno, which is -ENOSYS before Linux 5.6.
int OpenInRoot(int root, const std::string& path, int flags);

}  // namespace holdfast::sys
