#include "sys/executable_image.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "sys/io.h"

namespace holdfast::sys {
namespace {

// Absent from glibc 2.36; kernels before 6.3 do not know it and make every memfd executable.
constexpr unsigned kMfdExec = 0x10;

OwnedFd CreateMemfd(const char* name) {
  int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kMfdExec);
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return OwnedFd(fd);
}

}  // namespace

Result<OwnedFd> MakeExecutableImage(const char* name, std::span<const std::byte> image) {
  OwnedFd fd = CreateMemfd(name);
  if (!fd.is_open()) return std::unexpected(ErrnoError("memfd_create", name, errno));
  while (!image.empty()) {
    ssize_t n = Write(fd.get(), image.data(), image.size());
    if (n < 0) return std::unexpected(ErrnoError("write", name, static_cast<int>(-n)));
    image = image.subspan(static_cast<size_t>(n));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
    return std::unexpected(ErrnoError("fcntl F_ADD_SEALS", name, errno));
  }
  return fd;
}

}  // namespace holdfast::sys
