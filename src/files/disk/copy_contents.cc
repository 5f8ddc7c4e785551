#include "files/disk/copy_contents.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

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
    // The file system does not tell where holes are, or the file has just become shorter.
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

}  // namespace

int CopyContents(int from, int to) {
  struct stat status;
  if (::fstat(from, &status) < 0) return -errno;
  ContentsCopy copy(from, to);
  constexpr off_t kBlock = 512;  // the unit of st_blocks
  if (status.st_blocks * kBlock < status.st_size) return copy.CopySparse();
  return static_cast<int>(std::min<off_t>(copy.CopyRange(0, kNoEnd), 0));
}

}  // namespace holdfast::files
