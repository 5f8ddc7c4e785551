#include "sys/inherit.h"

#include <fcntl.h>

#include <fmt/format.h>

namespace holdfast::sys {

Result<> LetInherit(int fd) {
  if (::fcntl(fd, F_SETFD, 0) < 0) return FailErrno("fcntl", fmt::format("descriptor {}", fd));
  return {};
}

}  // namespace holdfast::sys
