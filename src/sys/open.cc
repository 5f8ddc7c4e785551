#include "sys/open.h"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace holdfast::sys {
namespace {

// openat2 refuses what open ignores: a mode without a file to create, and flags that mean nothing beside O_PATH.
open_how HowTo(int flags, Links links, mode_t mode) {
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  flags |= O_CLOEXEC;
  if ((flags & O_PATH) == 0) flags |= O_NOCTTY;
  if (links == Links::kFollowToLast) flags |= O_NOFOLLOW;
  return {.flags = static_cast<unsigned>(flags),
          .mode = creates ? mode : 0,
          .resolve = links == Links::kNone ? RESOLVE_NO_SYMLINKS : 0u};
}

// A descriptor or -errno. The kernel's EAGAIN is never retried: without RESOLVE_BENEATH it does not tell of a lost
// race, but of a lease (with O_NONBLOCK) or of a path that is not in memory (with RESOLVE_CACHED).
int Open(int directory, const char* path, const open_how& how) {
  for (;;) {
    const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    if (errno != EINTR) return -errno;
  }
}

}  // namespace

int TryOpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode) {
  return Open(directory, path.c_str(), HowTo(flags, links, mode));
}

Result<OwnedFd> OpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode) {
  const int fd = TryOpenAt(directory, path, flags, links, mode);
  if (fd < 0) return std::unexpected(ErrnoError("open", path, -fd));
  return OwnedFd(fd);
}

int OpenCached(const std::string& path, int flags, Links links) {
  open_how how = HowTo(flags, links, 0);
  how.resolve |= RESOLVE_CACHED;
  const int fd = Open(AT_FDCWD, path.c_str(), how);
  return fd == -EINVAL ? -EAGAIN : fd;  // Linux before 5.12 cannot tell
}

}  // namespace holdfast::sys
