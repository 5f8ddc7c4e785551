#include "sandbox/passed_text.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/read_to_end.h"

namespace holdfast::sandbox {

Result<std::string> ReadPassedText(int fd) {
  constexpr size_t max_bytes = size_t{16} << 20;
  const OwnedFd passed(fd);
  return sys::ReadToEnd(fd, max_bytes, fmt::format("descriptor {}", fd));
}

}  // namespace holdfast::sandbox
