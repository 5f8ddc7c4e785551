#include "cli/terminal/local_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <fmt/format.h>

namespace holdfast::cli {

LocalInput::LocalInput(int fd) : fd_(fd), flags_(::fcntl(fd, F_GETFL)) {
  struct stat status{};
  if (::fstat(fd, &status) < 0 || (!S_ISFIFO(status.st_mode) && ::isatty(fd) != 1)) return;
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  own_ = OwnedFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

// A watch may have changed the mode of a descriptor that could not be opened again. If it has been closed meanwhile,
// there is nothing to restore.
LocalInput::~LocalInput() {
  if (!own_.is_open() && flags_ >= 0) (void)::fcntl(fd_, F_SETFL, flags_);
}

}  // namespace holdfast::cli
