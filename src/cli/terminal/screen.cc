#include "cli/terminal/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/environment_variable.h"

namespace holdfast::cli {

bool IsTerminal(int fd) { return ::isatty(fd) == 1; }

std::optional<sys::WindowSize> WindowSizeOf(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0) return std::nullopt;
  return sys::WindowSize{.rows = size.ws_row, .cols = size.ws_col};
}

bool HasColours(int fd) {
  return IsTerminal(fd) && EnvironmentVariable("NO_COLOR").value_or("").empty() &&
         EnvironmentVariable("TERM").value_or("dumb") != "dumb";
}

}  // namespace holdfast::cli
