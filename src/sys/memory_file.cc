#include "sys/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "sys/io.h"

namespace holdfast::sys {

Result<OwnedFd> MakeMemoryFile(const char* name, std::string_view text) {
  OwnedFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.is_open()) return std::unexpected(ErrnoError("memfd_create", name, errno));
  while (!text.empty()) {
    const ssize_t size = Write(fd.get(), text.data(), text.size());
    if (size < 0) return std::unexpected(ErrnoError("write", name, static_cast<int>(-size)));
    text.remove_prefix(static_cast<size_t>(size));
  }
  if (::lseek(fd.get(), 0, SEEK_SET) < 0) return std::unexpected(ErrnoError("lseek", name, errno));
  return fd;
}

}  // namespace holdfast::sys
