#include "cli/terminal/local_io.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <fmt/format.h>

#include "sys/io.h"

namespace holdfast::cli {
namespace {

// Returns the result of a call, or -errno. A signal ends a wait, so EINTR is retried.
template <typename Call>
ssize_t Retried(Call call) {
  ssize_t result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : result;
}

}  // namespace

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

LocalOutput::LocalOutput(int fd) : fd_(fd) {
  struct stat status{};
  if (::fstat(fd, &status) < 0) return;
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::kSocket;
  } else if (S_ISFIFO(status.st_mode) || ::isatty(fd) == 1) {
    const std::string path = fmt::format("/proc/self/fd/{}", fd);
    own_ = OwnedFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own_.is_open()) kind_ = Kind::kReopened;
  }
}

ssize_t LocalOutput::Write(std::string_view bytes) {
  ssize_t written = 0;
  while (static_cast<size_t>(written) < bytes.size()) {
    const std::string_view rest = bytes.substr(static_cast<size_t>(written));
    const ssize_t n = Retried([&] {
      return kind_ == Kind::kSocket ? ::send(fd_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                    : ::write(fd(), rest.data(), rest.size());
    });
    if (n == -EAGAIN) return written;
    if (n < 0) return n;
    written += n;
  }
  return written;
}

}  // namespace holdfast::cli
