#include "files/disk/copy_entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "files/disk/metadata.h"
#include "sys/file_identity.h"
#include "sys/placeholder.h"

namespace holdfast::files {
namespace {

constexpr size_t kBufferBytes = 256u << 10;
constexpr off_t kMaxStep = off_t{1} << 30;
constexpr off_t kNoEnd = std::numeric_limits<off_t>::max();

// Returns whether the error means that the kernel or the file systems cannot copy by themselves, or that a sandbox does
// not allow it. The contents then have to be read and written.
bool NeedsReading(int errno_value) {
  switch (errno_value) {
    case EXDEV:
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP:
    case EPERM:
    case EBADF:
    case ETXTBSY:
      return true;
    default:
      return false;
  }
}

class ContentsCopy {
 public:
  ContentsCopy(int from, int to) : from_(from), to_(to) {}

  // Copies bytes to the same offset of the destination, up to `end` or to the end of the file. Returns the offset at
  // which it stopped, or -errno.
  off_t CopyRange(off_t begin, off_t end);

  int CopySparse();

 private:
  ssize_t Step(off_t at, size_t size);
  ssize_t ReadAndWrite(off_t at, size_t size);

  int from_, to_;
  bool in_kernel_ = true;
  std::unique_ptr<std::byte[]> buffer_;
};

off_t ContentsCopy::CopyRange(off_t begin, off_t end) {
  off_t at = begin;
  while (at < end) {
    const ssize_t n = Step(at, static_cast<size_t>(std::min(end - at, kMaxStep)));
    if (n == -EINTR) continue;
    if (n < 0) return n;
    if (n == 0) break;
    at += n;
  }
  return at;
}

ssize_t ContentsCopy::Step(off_t at, size_t size) {
  if (in_kernel_) {
    off_t in = at;
    off_t out = at;
    const ssize_t n = ::copy_file_range(from_, &in, to_, &out, size, 0);
    if (n > 0) return n;
    if (n < 0 && !NeedsReading(errno)) return -errno;
    // The kernel's claim that the file has ended is not reliable: a file in /proc has a size of 0 and still has
    // content.
    in_kernel_ = false;
  }
  return ReadAndWrite(at, std::min(size, kBufferBytes));
}

ssize_t ContentsCopy::ReadAndWrite(off_t at, size_t size) {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
  const ssize_t n = ::pread(from_, buffer_.get(), size, at);
  if (n < 0) return -errno;
  // If the write is short, the next step reads the rest again.
  const ssize_t written = n == 0 ? 0 : ::pwrite(to_, buffer_.get(), static_cast<size_t>(n), at);
  if (written < 0) return -errno;
  return n > 0 && written == 0 ? -EIO : written;
}

int ContentsCopy::CopySparse() {
  off_t at = 0;
  for (;;) {
    const off_t data = ::lseek(from_, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    const off_t hole = data < 0 ? data : ::lseek(from_, data, SEEK_HOLE);
    // The file system does not report where holes are, or the file has just become shorter.
    if (hole < 0) return static_cast<int>(std::min<off_t>(CopyRange(at, kNoEnd), 0));
    const off_t reached = CopyRange(data, hole);
    if (reached < 0) return static_cast<int>(reached);
    if (reached < hole) return 0;  // the content ends before the size of the file, as in /sys
    at = hole;
  }
  // The rest of the file is a hole.
  struct stat status;
  if (::fstat(from_, &status) < 0) return -errno;
  return ::ftruncate(to_, std::max(at, status.st_size)) < 0 ? -errno : 0;
}

// Copies all of `from` to `to`, which must be empty. Returns 0 or -errno; after an error the part that was written
// stays.
int CopyContents(int from, int to) {
  struct stat status;
  if (::fstat(from, &status) < 0) return -errno;
  ContentsCopy copy(from, to);
  constexpr off_t kBlock = 512;  // the unit of st_blocks
  if (status.st_blocks * kBlock < status.st_size) return copy.CopySparse();
  return static_cast<int>(std::min<off_t>(copy.CopyRange(0, kNoEnd), 0));
}

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
