#include "sys/executable_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <cerrno>

#include "sys/io.h"

namespace holdfast::sys {
namespace {

// MFD_EXEC, which glibc 2.36 does not define. Kernels before 6.3 do not know it, and make every memfd executable.
constexpr unsigned kMfdExec = 0x10;
constexpr int kSealExec = 0x20;  // F_SEAL_EXEC of Linux 6.3: the permissions to execute cannot be changed
constexpr int kSealContent = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

OwnedFd CreateMemfd(const char* name) {
  int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kMfdExec);
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return OwnedFd(fd);
}

Result<> SetMode(int fd, ImageMode mode) {
  const mode_t bits = mode == ImageMode::kReadable ? 0555 : 0111;
  if (::fchmod(fd, bits) < 0) return FailErrno("fchmod", "memory file");
  return {};
}

// Seals the file. The additional seal `more` is left out if the kernel does not know it.
Result<> Seal(int fd, int more) {
  constexpr int seals = kSealContent | F_SEAL_SEAL;
  if (::fcntl(fd, F_ADD_SEALS, seals | more) == 0) return {};
  if (more != 0 && errno == EINVAL && ::fcntl(fd, F_ADD_SEALS, seals) == 0) return {};
  return FailErrno("fcntl F_ADD_SEALS", "memory file");
}

}  // namespace

Result<OwnedFd> MakeExecutableImage(const char* name, std::span<const std::byte> image, ImageMode mode) {
  OwnedFd fd = CreateMemfd(name);
  if (!fd.is_open()) return FailErrno("memfd_create", name);
  while (!image.empty()) {
    ssize_t n = Write(fd.get(), image.data(), image.size());
    if (n < 0) return FailErrno("write", name, static_cast<int>(-n));
    image = image.subspan(static_cast<size_t>(n));
  }
  TRY_VOID(SetMode(fd.get(), mode));
  TRY_VOID(Seal(fd.get(), 0));
  return fd;
}

Result<OwnedFd> BeginExecutableCopy(const char* name) {
  OwnedFd fd = CreateMemfd(name);
  if (!fd.is_open()) return FailErrno("memfd_create", name);
  return fd;
}

Result<> FinishExecutableCopy(int image, int source, ImageMode mode) {
  constexpr size_t kPiece = 16 << 20;
  off_t at = 0;
  ssize_t copied;
  do {
    copied = ::sendfile(image, source, &at, kPiece);
  } while (copied > 0 || (copied < 0 && errno == EINTR));
  if (copied < 0) return FailErrno("sendfile", "memory file");
  TRY_VOID(SetMode(image, mode));
  return Seal(image, kSealExec);
}

bool IsSealed(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & kSealContent) == kSealContent;
}

}  // namespace holdfast::sys
