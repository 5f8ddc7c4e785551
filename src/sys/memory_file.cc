#include "sys/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace holdfast::sys {

Result<OwnedFd> MakeMemoryFile(const char* name, std::string_view text) {
  OwnedFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.is_open()) return FailErrno("memfd_create", name);
  TRY_VOID(FillMemoryFile(fd.get(), text));
  return fd;
}

Result<> FillMemoryFile(int fd, std::string_view text) {
  for (off_t at = 0; !text.empty();) {
    const ssize_t size = ::pwrite(fd, text.data(), text.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FailErrno("pwrite", "memory file");
    text.remove_prefix(static_cast<size_t>(size));
    at += size;
  }
  return {};
}

}  // namespace holdfast::sys
