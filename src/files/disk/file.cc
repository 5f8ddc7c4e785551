#include "files/disk/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fmt/format.h>

#include "base/file_time.h"
#include "files/disk/place.h"
#include "sys/permissions.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

constexpr uint64_t kMaxOffset = std::numeric_limits<int64_t>::max();

std::unexpected<Error> NotRegular(const std::string& path) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("path {}: not a regular file", path));
}

std::unexpected<Error> BeyondAnyFile(const std::string& path, uint64_t offset) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("path {}: offset {} is beyond any file", path, offset));
}

// Reads the status of the file that an open with these links would reach, without opening it. Returns 0 or -errno.
int StatAt(int directory, const std::string& name, sys::Links links, struct stat& status) {
  if (links == sys::Links::kFollow) return ::fstatat(directory, name.c_str(), &status, 0) < 0 ? -errno : 0;
  const int opened = sys::TryOpenAt(directory, name, O_PATH, links);
  if (opened < 0) return opened;
  const OwnedFd fd(opened);
  return ::fstat(fd.get(), &status) < 0 ? -errno : 0;
}

bool Writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

// Handles a file that has the mode of a placeholder. Returns 0 if the file is not a placeholder, or if it has become an
// ordinary file to write to, and -errno otherwise.
int AdoptOrHidePlaceholder(int directory, const std::string& name, int flags, sys::Links links, mode_t mode) {
  if ((flags & O_CREAT) == 0) return sys::IsPlaceholderAt(directory, name, links) ? -ENOENT : 0;
  const int adopted = sys::AdoptPlaceholder(directory, name, S_IFREG | mode, links);
  return adopted == -ENOENT ? 0 : adopted;
}

// Repeats a system call that a signal has interrupted. Returns its result or -errno.
template <typename Call>
ssize_t Uninterrupted(Call call) {
  for (;;) {
    const ssize_t n = call();
    if (n >= 0) return n;
    if (errno != EINTR) return -errno;
  }
}

}  // namespace

Result<File> File::OpenForReading(const std::string& path, Symlinks symlinks) {
  return Open({AT_FDCWD, path, O_RDONLY, LinksOf(symlinks)}, path);
}

Result<File> File::OpenForWriting(const std::string& path, Symlinks symlinks, const GuardedNames& guarded,
                                  mode_t mode) {
  return OpenToWrite({AT_FDCWD, path, O_WRONLY | O_CREAT, LinksOf(symlinks), mode}, symlinks, guarded);
}

Result<File> File::OpenForUpdate(const std::string& path, Symlinks symlinks, const GuardedNames& guarded) {
  return OpenToWrite({AT_FDCWD, path, O_RDWR, LinksOf(symlinks)}, symlinks, guarded);
}

// Opens the path that the opening names, or the same file from its directory if names are guarded.
Result<File> File::OpenToWrite(const Opening& opening, Symlinks symlinks, const GuardedNames& guarded) {
  const std::string& path = opening.name;
  if (guarded.empty()) return Open(opening, path);
  TRY(const Place place, FindPlaceToChange(path, symlinks, guarded));
  return Open({place.directory.get(), place.name, opening.flags, sys::Links::kNone, opening.mode}, path);
}

Result<File> File::OpenForReadingAt(int directory, const std::string& name, const std::string& path) {
  return Open({directory, name, O_RDONLY, sys::Links::kNone}, path);
}

Result<File> File::CreateAt(int directory, const std::string& name, mode_t mode, const std::string& path) {
  return Open({directory, name, O_WRONLY | O_CREAT | O_EXCL, sys::Links::kNone, mode}, path);
}

// O_NONBLOCK stays set on the open file. It has no effect on a file on a disk, but without it some regular files of the
// kernel, such as /proc/kmsg, would block their reader.
Result<File> File::Open(const Opening& opening, const std::string& path) {
  const auto& [directory, name, flags, links, mode] = opening;
  struct stat status;
  const int failed = StatAt(directory, name, links, status);
  if (failed != 0 && !(failed == -ENOENT && (flags & O_CREAT) != 0)) return FailErrno("open", path, -failed);
  if (failed == 0 && sys::HasPlaceholderMode(status.st_mode)) {
    const int met = AdoptOrHidePlaceholder(directory, name, flags, links, mode);
    if (met != 0) return FailErrno("open", path, -met);
  }
  // Writing to a directory is left to the kernel, which refuses it with EISDIR.
  const bool refused = failed == 0 && !S_ISREG(status.st_mode) && !(S_ISDIR(status.st_mode) && Writes(flags));
  if (refused) return NotRegular(path);

  const int opened = sys::TryOpenAt(directory, name, flags | O_NONBLOCK, links, mode);
  if (opened < 0) return FailErrno("open", path, -opened);
  return Adopt(OwnedFd(opened), path);
}

Result<File> File::Adopt(OwnedFd fd, std::string path) {
  struct stat status;
  if (::fstat(fd.get(), &status) < 0) return FailErrno("fstat", path);
  if (!S_ISREG(status.st_mode)) return NotRegular(path);
  return File(std::move(fd), std::move(path), static_cast<uint64_t>(status.st_size));
}

Result<size_t> File::ReadAt(uint64_t offset, std::span<std::byte> buffer) const {
  if (offset > kMaxOffset) return BeyondAnyFile(path_, offset);
  // No file is longer than kMaxOffset, and the kernel refuses a range that ends beyond it.
  buffer = buffer.first(std::min<uint64_t>(buffer.size(), kMaxOffset - offset));
  size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t n = Uninterrupted([&] {
      return ::pread(fd_.get(), buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    });
    if (n < 0) return FailErrno("read", path_, static_cast<int>(-n));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

Result<> File::WriteAt(uint64_t offset, std::span<const std::byte> bytes, size_t* written) const {
  size_t unwanted;
  size_t& done = written != nullptr ? *written : unwanted;
  done = 0;
  if (offset > kMaxOffset || bytes.size() > kMaxOffset - offset) return BeyondAnyFile(path_, offset);
  while (done < bytes.size()) {
    const ssize_t n = Uninterrupted([&] {
      return ::pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    });
    if (n < 0) return FailErrno("write", path_, static_cast<int>(-n));
    // A write to a regular file never returns 0. If it does, this is an error rather than an endless loop.
    if (n == 0) return FailErrno("write", path_, EIO);
    done += static_cast<size_t>(n);
  }
  return {};
}

Result<> File::Truncate(uint64_t size) const {
  if (size > kMaxOffset) return BeyondAnyFile(path_, size);
  const ssize_t failed = Uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); });
  if (failed != 0) return FailErrno("truncate", path_, static_cast<int>(-failed));
  return {};
}

Result<> File::SetPermissions(mode_t permissions) const {
  if (const int error = sys::SetPermissions(fd_.get(), permissions)) return FailErrno("chmod", path_, error);
  return {};
}

Result<> File::SetModifiedAt(int64_t ms) const {
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, FileTime(ms)};
  if (::futimens(fd_.get(), times) < 0) return FailErrno("utimensat", path_);
  return {};
}

Result<> File::Close() {
  if (fd_.is_open() && ::close(fd_.Release()) < 0 && errno != EINTR) return FailErrno("close", path_);
  return {};
}

}  // namespace holdfast::files
