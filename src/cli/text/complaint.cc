#include "cli/text/complaint.h"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/shown_text.h"

namespace holdfast::cli {
namespace {

bool IsRaw(int fd) {
  termios settings{};
  return ::tcgetattr(fd, &settings) == 0 && (settings.c_oflag & OPOST) == 0;
}

}  // namespace

void PrintComplaint(std::string_view who, std::string_view message) {
  std::string line = fmt::format("{}: {}", who, message);
  std::ranges::replace(line, '\n', ' ');
  line = ShownText(line) + "\n";
  // A terminal in raw mode, which this program makes of the user's for a command with a terminal, moves the cursor down
  // at a newline, and not to the left.
  if (IsRaw(STDERR_FILENO)) line = "\r\n" + line + "\r";
  (void)std::fputs(line.c_str(), stderr);  // if this fails, there is no other way to tell the user
}

}  // namespace holdfast::cli
