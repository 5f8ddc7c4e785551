#include "sys/file_identity.h"

#include <fcntl.h>

#include <cerrno>

#include "sys/open.h"

namespace holdfast::sys {

// The path is opened as a directory first, because this makes the kernel mount an automount at that path.
Result<OwnedFd> OpenWithoutLinks(const std::string& path) {
  int fd = sys::TryOpenAt(AT_FDCWD, path, O_PATH | O_DIRECTORY, sys::Links::kNone);
  if (fd == -ENOTDIR) fd = sys::TryOpenAt(AT_FDCWD, path, O_PATH | O_NOFOLLOW, sys::Links::kNone);
  if (fd < 0) return FailErrno("open", path, -fd);
  return OwnedFd(fd);
}

Result<OwnedFd> OpenLink(const std::string& path) {
  return sys::OpenAt(AT_FDCWD, path, O_PATH | O_NOFOLLOW, sys::Links::kNone);
}

Result<FileIdentity> IdentityOf(int fd, const std::string& path) {
  struct stat status;
  if (::fstat(fd, &status) < 0) return FailErrno("stat", path);
  return FileIdentity::Of(status);
}

}  // namespace holdfast::sys
