#include "sys/open.h"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace holdfast::sys {
namespace {

// Returns the arguments of openat2. Unlike open, openat2 refuses a mode if no file is created, and flags that have no
// meaning together with O_PATH, so both are left out.
open_how HowTo(int flags, Links links, mode_t mode) {
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  flags |= O_CLOEXEC;
  if ((flags & O_PATH) == 0) flags |= O_NOCTTY;
  if (links == Links::kFollowToLast) flags |= O_NOFOLLOW;
  return {.flags = static_cast<unsigned>(flags),
          .mode = creates ? mode : 0,
          .resolve = links == Links::kNone ? RESOLVE_NO_SYMLINKS : 0u};
}

// Returns a descriptor or -errno. EAGAIN is never retried. Without RESOLVE_BENEATH it does not mean a lost race, but a
// lease on the file (with O_NONBLOCK) or a path that is not in memory (with RESOLVE_CACHED).
int Open(int directory, const char* path, const open_how& how) {
  for (;;) {
    const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    if (errno != EINTR) return -errno;
  }
}

int OpenPlainly(int directory, const char* path, const open_how& how) {
  for (;;) {
    const int fd = ::openat(directory, path, static_cast<int>(how.flags), static_cast<mode_t>(how.mode));
    if (fd >= 0) return fd;
    if (errno != EINTR) return -errno;
  }
}

bool IsLink(int directory, const char* name) {
  struct stat status;
  return ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 && S_ISLNK(status.st_mode);
}

// Opens one name that must not be a link. Returns -ELOOP for a link, even where the kernel would open the link itself
// or fail with ENOTDIR.
int OpenName(int directory, const char* name, open_how how) {
  const bool wants_link = (how.flags & O_PATH) != 0 && (how.flags & O_NOFOLLOW) != 0;
  how.flags |= O_NOFOLLOW;
  const int fd = OpenPlainly(directory, name, how);
  if (fd == -ENOTDIR && IsLink(directory, name)) return -ELOOP;
  if (fd < 0 || wants_link || (how.flags & O_PATH) == 0 || !IsLink(fd, "")) return fd;
  ::close(fd);
  return -ELOOP;
}

// Does the same as RESOLVE_NO_SYMLINKS, by opening one name after the other.
int WalkWithoutLinks(int directory, std::string_view path, const open_how& how) {
  constexpr open_how on_the_way = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .mode = 0, .resolve = 0};
  OwnedFd here;
  if (path.starts_with('/')) {
    here = OwnedFd(OpenPlainly(AT_FDCWD, "/", on_the_way));
    directory = here.get();
  }
  for (;;) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const size_t end = std::min(path.find('/'), path.size());
    const std::string name(path.substr(0, end));
    if (end == path.size()) return OpenName(directory, name.empty() && here.is_open() ? "." : name.c_str(), how);
    const int next = OpenName(directory, name.c_str(), on_the_way);
    if (next < 0) return next;
    here = OwnedFd(next);
    directory = next;
    path.remove_prefix(end);
  }
}

}  // namespace

// openat2 does not exist before Linux 5.6, nor for a command in one of our sandboxes, and this process may be such a
// command.
int TryOpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode) {
  const open_how how = HowTo(flags, links, mode);
  const int fd = Open(directory, path.c_str(), how);
  if (fd != -ENOSYS) return fd;
  return links == Links::kNone ? WalkWithoutLinks(directory, path, how) : OpenPlainly(directory, path.c_str(), how);
}

Result<OwnedFd> OpenAt(int directory, const std::string& path, int flags, Links links, mode_t mode) {
  const int fd = TryOpenAt(directory, path, flags, links, mode);
  if (fd < 0) return FailErrno("open", path, -fd);
  return OwnedFd(fd);
}

int OpenCached(const std::string& path, int flags, Links links) {
  const int fd = OpenCachedAt(AT_FDCWD, path, flags, links);
  return fd == -ENOSYS ? -EAGAIN : fd;
}

int OpenCachedAt(int directory, const std::string& path, int flags, Links links) {
  open_how how = HowTo(flags, links, 0);
  how.resolve |= RESOLVE_CACHED;
  const int fd = Open(directory, path.c_str(), how);
  return fd == -EINVAL ? -ENOSYS : fd;
}

// The kernel refuses a lookup with EAGAIN if a rename at the same time might lead it out of the root.
int OpenInRoot(int root, const std::string& path, int flags) {
  const open_how how = {.flags = static_cast<unsigned>(flags | O_CLOEXEC), .mode = 0, .resolve = RESOLVE_IN_ROOT};
  int opened = -EAGAIN;
  for (int tries = 0; tries < 10 && opened == -EAGAIN; ++tries) opened = Open(root, path.c_str(), how);
  return opened;
}

}  // namespace holdfast::sys
