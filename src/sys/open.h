// Opening files relative to a directory, with control over symbolic links: by openat2, or name by name without it.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sys {

// Where symbolic links may occur in a path that is resolved: anywhere, anywhere but at its end, or nowhere.
enum class Links { kFollow, kFollowToLast, kNone };

// Close-on-exec and without becoming a controlling terminal, whatever `flags` say; EINTR is retried. Relative to
// `directory`, which may be AT_FDCWD. The error names `path`.
Result<OwnedFd> OpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode = 0);

// The same for callers that branch on the reason: a descriptor or -errno.
int TryOpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode = 0);

// The same, but only from what the kernel has in memory: -EAGAIN when it would have to ask a disk or a server. Returns
// a descriptor or -errno. Devices are not opened; pass O_PATH to be sure that opening itself cannot block.
int OpenCached(const std::string& path, int flags, Links links);

// The same relative to a directory. Before Linux 5.12 the kernel cannot tell: -ENOSYS.
int OpenCachedAt(int directory, const std::string& path, int flags, Links links);

}  // namespace holdfast::sys
