#include "files/disk/copy_entry.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "files/disk/copy_contents.h"
#include "files/disk/set_mode.h"
#include "sys/file_identity.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

std::unexpected<Error> Refused(const Target& target, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("copy to {}: {}", target.path, reason));
}

bool IsSpecial(mode_t mode) { return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode) || S_ISBLK(mode); }

// Opens or creates the target without truncating it. A special file is not opened. If another process puts one there
// after the check, it is opened without blocking.
Result<OwnedFd> OpenTarget(const Target& target, sys::Links links) {
  struct stat status;
  const int flags = links == sys::Links::kFollow ? 0 : AT_SYMLINK_NOFOLLOW;
  const bool exists = ::fstatat(target.directory, target.name.c_str(), &status, flags) == 0;
  if (exists && IsSpecial(status.st_mode)) return Refused(target, "not a regular file");
  // Other users must not read the file before it has the permissions of the source.
  constexpr mode_t kMode = 0600;
  if (exists && sys::HasPlaceholderMode(status.st_mode)) {
    const int adopted = sys::AdoptPlaceholder(target.directory, target.name, S_IFREG | kMode, links);
    if (adopted != 0 && adopted != -ENOENT) return FailErrno("open", target.path, -adopted);
  }
  const int opened = sys::TryOpenAt(target.directory, target.name, O_WRONLY | O_CREAT | O_NONBLOCK, links, kMode);
  if (opened < 0) return FailErrno("open", target.path, -opened);
  return OwnedFd(opened);
}

}  // namespace

Result<> CopyFile(const File& source, const Target& target, sys::Links links) {
  const auto failed = [&](int errno_value) {
    return FailErrno("copy", fmt::format("{} to {}", source.path(), target.path), errno_value);
  };
  TRY(OwnedFd fd, OpenTarget(target, links));
  struct stat from, to;
  if (::fstat(source.fd(), &from) < 0 || ::fstat(fd.get(), &to) < 0) return failed(errno);
  if (!S_ISREG(to.st_mode)) return Refused(target, "not a regular file");
  if (sys::IsSameFile(from, to)) return Refused(target, "it is the source itself");

  if (to.st_size > 0 && ::ftruncate(fd.get(), 0) < 0) return failed(errno);
  if (const int error = CopyContents(source.fd(), fd.get())) return failed(-error);
  // The status is read again, because writing has removed the set-user-ID and set-group-ID bits.
  if (::fstat(fd.get(), &to) < 0) return failed(errno);
  const mode_t mode = ModeOfCopy(from, to);
  if (mode != (to.st_mode & ALLPERMS)) {
    if (const int error = SetMode(fd.get(), mode)) return failed(error);
  }
  // A network file system may return only at the close that there is no room.
  if (::close(fd.Release()) < 0 && errno != EINTR) return failed(errno);
  return {};
}

Result<> MakeLink(const std::string& text, const Target& target) {
  if (::symlinkat(text.c_str(), target.directory, target.name.c_str()) == 0) return {};
  const int failed = errno;
  // The placeholder of a sandbox cannot be replaced by a link.
  const bool is_held = failed == EEXIST && sys::IsPlaceholderAt(target.directory, target.name);
  return FailErrno("symlink", target.path, is_held ? EBUSY : failed);
}

mode_t ModeOfCopy(const struct stat& source, const struct stat& copy) {
  mode_t kept = ACCESSPERMS | S_ISVTX;
  if (source.st_uid == copy.st_uid && !S_ISDIR(copy.st_mode))
    kept |= S_ISUID;  // the bit has no meaning for a directory
  if (source.st_gid == copy.st_gid) kept |= S_ISGID;
  const mode_t inherited = S_ISDIR(copy.st_mode) ? copy.st_mode & S_ISGID : 0;
  return (source.st_mode & kept) | inherited;
}

}  // namespace holdfast::files
