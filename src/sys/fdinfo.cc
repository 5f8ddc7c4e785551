#include "sys/fdinfo.h"

#include <fcntl.h>

#include <array>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/io.h"

namespace holdfast::sys {

Result<std::string> ReadFdInfo(int fd) {
  const std::string path = fmt::format("/proc/self/fdinfo/{}", fd);
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer;
  const ssize_t size = file.is_open() ? Read(file.get(), buffer.data(), buffer.size()) : -errno;
  if (size < 0) return FailErrno("read", path, static_cast<int>(-size));
  return std::string(buffer.data(), static_cast<size_t>(size));
}

std::string_view ValueIn(std::string_view fdinfo, std::string_view name) {
  const std::string key = fmt::format("\n{}:\t", name);
  const size_t at = fdinfo.find(key);
  if (at == std::string_view::npos) return "";
  fdinfo.remove_prefix(at + key.size());
  return fdinfo.substr(0, fdinfo.find('\n'));
}

}  // namespace holdfast::sys
