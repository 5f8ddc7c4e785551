#include "files/disk/cached_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdint>

#include "base/owned_fd.h"
#include "sys/file_identity.h"
#include "sys/open.h"

namespace holdfast::files {
namespace {

std::optional<struct stat> Stat(int fd) {
  struct stat status;
  if (::fstat(fd, &status) < 0) return std::nullopt;
  return status;
}

}  // namespace

// An O_PATH descriptor, which does not open the file, first shows on which file system the file is. The file is opened
// only if it is on a file system of this machine.
std::optional<std::string> CachedFiles::Read(const std::string& path, Symlinks symlinks, size_t max_bytes) {
  const OwnedFd place(sys::OpenCached(path, O_PATH, LinksOf(symlinks)));
  if (!place.is_open()) return std::nullopt;
  const auto found = Stat(place.get());
  if (!found || !S_ISREG(found->st_mode) || !local_devices_.Contains(found->st_dev)) return std::nullopt;
  const auto size = static_cast<size_t>(found->st_size);
  if (size == 0 || size > max_bytes) return std::nullopt;

  const OwnedFd file(sys::OpenCached(path, O_RDONLY | O_NONBLOCK, LinksOf(symlinks)));
  const auto opened = file.is_open() ? Stat(file.get()) : std::nullopt;
  if (!opened || !sys::IsSameFile(*found, *opened)) return std::nullopt;
  std::string bytes(size, '\0');
  const iovec vector{bytes.data(), size};
  // If the read returns less than the whole file, the rest is only on the disk, or the file has become shorter.
  if (::preadv2(file.get(), &vector, 1, 0, RWF_NOWAIT) != static_cast<ssize_t>(size)) return std::nullopt;
  return bytes;
}

}  // namespace holdfast::files
