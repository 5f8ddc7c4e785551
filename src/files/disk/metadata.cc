#include "files/disk/metadata.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/file_time.h"
#include "base/owned_fd.h"
#include "sys/open.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

constexpr unsigned kWanted = STATX_TYPE | STATX_MODE | STATX_SIZE | STATX_MTIME | STATX_BTIME;

using Status = struct statx;

bool IsLink(const Status& status) { return S_ISLNK(status.stx_mode); }

int64_t Milliseconds(const statx_timestamp& time) {
  return FileTimeMs({.tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec});
}

Metadata MetadataOf(const Status& status, bool is_symlink) {
  return {.is_directory = S_ISDIR(status.stx_mode),
          .is_file = S_ISREG(status.stx_mode),
          .is_symlink = is_symlink,
          .size = status.stx_size,
          .created_at_ms = (status.stx_mask & STATX_BTIME) != 0 ? Milliseconds(status.stx_btime) : 0,
          .modified_at_ms = Milliseconds(status.stx_mtime),
          .permissions = static_cast<uint16_t>(status.stx_mode & 0777)};
}

std::unexpected<Error> Failed(const std::string& path, int errno_value) { return FailErrno("stat", path, errno_value); }

std::unexpected<Error> FailedWithoutLinks(const std::string& path, int errno_value) {
  if (errno_value != ELOOP) return Failed(path, errno_value);
  return Fail(ErrorKind::kInvalidRequest, fmt::format("path {}: contains a symbolic link", path));
}

// Reads the status of a path without triggering an automount, as an O_PATH descriptor does not trigger it either.
Result<Status> StatPath(const std::string& path, int flags) {
  Status status;
  if (::statx(AT_FDCWD, path.c_str(), flags | AT_NO_AUTOMOUNT, kWanted, &status) < 0) return Failed(path, errno);
  return status;
}

Result<Status> StatFd(int fd, const std::string& path, int flags) {
  Status status;
  if (::statx(fd, "", flags | AT_EMPTY_PATH, kWanted, &status) < 0) return Failed(path, errno);
  return status;
}

Result<Metadata> GetWithoutLinks(const std::string& path) {
  const int opened = sys::TryOpenAt(AT_FDCWD, path, O_PATH, sys::Links::kNone);
  if (opened < 0) return FailedWithoutLinks(path, -opened);
  const OwnedFd fd(opened);
  TRY(const Status status, StatFd(fd.get(), path, 0));
  if (sys::IsPlaceholder(fd.get())) return Failed(path, ENOENT);
  return MetadataOf(status, false);
}

// Returns nothing if the kernel does not have the path in memory.
std::optional<Result<Status>> StatCached(const std::string& path, sys::Links links) {
  const int opened = sys::OpenCached(path, O_PATH, links);
  if (opened == -EAGAIN) return std::nullopt;
  if (opened < 0) return links == sys::Links::kNone ? FailedWithoutLinks(path, -opened) : Failed(path, -opened);
  const OwnedFd fd(opened);
  return StatFd(fd.get(), path, AT_STATX_DONT_SYNC);
}

}  // namespace

Result<Metadata> GetMetadata(const std::string& path, Symlinks symlinks) {
  if (symlinks == Symlinks::kRefuse) return GetWithoutLinks(path);
  TRY(const Status itself, StatPath(path, AT_SYMLINK_NOFOLLOW));
  const bool is_link = IsLink(itself);
  Status status = itself;
  if (is_link) {
    TRY(status, StatPath(path, 0));
  }
  if (sys::IsPlaceholderOfMode(status.stx_mode, AT_FDCWD, path, sys::Links::kFollow)) return Failed(path, ENOENT);
  return MetadataOf(status, is_link);
}

std::optional<Result<Metadata>> GetCachedMetadata(const std::string& path, Symlinks symlinks) {
  const bool refuse = symlinks == Symlinks::kRefuse;
  auto status = StatCached(path, refuse ? sys::Links::kNone : sys::Links::kFollowToLast);
  const bool is_link = status && *status && IsLink(**status);
  if (is_link) status = StatCached(path, sys::Links::kFollow);
  if (!status) return std::nullopt;
  if (!*status) return std::unexpected(std::move(*status).error());
  if (sys::HasPlaceholderMode((*status)->stx_mode)) return std::nullopt;  // a closer look at a placeholder may block
  return MetadataOf(**status, is_link);
}

int SetMode(int fd, mode_t mode) {
  constexpr mode_t set_ids = S_ISUID | S_ISGID;
  if (::fchmod(fd, mode) == 0) return 0;
  if (errno != EPERM || (mode & set_ids) == 0) return errno;
  return ::fchmod(fd, mode & ~set_ids) == 0 ? 0 : errno;
}

}  // namespace holdfast::files
