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

// Each line stands for itself: a terminal ignores those that it does not know. The first three make sure that the
// others are understood as sequences at all.
std::string_view ResetOfModes() {
  return "\x18\x1b\\"           // end an unfinished sequence, and a string such as a title
         "\x1b<"                // leave the mode of a VT52, which has other sequences
         "\x1b[4i\x1b[?4i"      // print on the screen, not on a printer
         "\x1b[0$}"             // write to the main display, not to the status line
         "\x1b[?1049l"          // leave the alternate screen, by each of its names
         "\x1b[?1047l"          //
         "\x1b[?47l"            //
         "\x1b[!p"              // soft reset: most of what follows, in one sequence
         "\x1b%G"               // UTF-8
         "\x0f\x1b(B\x1b)B"     // ASCII in all four character sets, and the first of them in use
         "\x1b*B\x1b+B"         //
         "\x1b[0m"              // no colours, not invisible
         "\x1b]8;;\x1b\\"       // no link
         "\x1b]104\x1b\\"       // the colours of the palette, of text, background and cursor as they are usually
         "\x1b]110\x1b\\"       //
         "\x1b]111\x1b\\"       //
         "\x1b]112\x1b\\"       //
         "\x1b]0;\x1b\\"        // no title
         "\x1b[r"               // no scroll region
         "\x1b[?69l"            // no margins at the sides
         "\x1b[?6l"             // positions count from the corner of the screen
         "\x1b[?7h\x1b[?45l"    // long lines are wrapped, and the cursor does not move back over the wrap
         "\x1b[4l\x1b[20l"      // characters replace others, and a line feed is only that
         "\x1b[?5l"             // no reverse screen
         "\x1b[0\"q"            // characters may be erased
         "\x1b[?25h\x1b[0 q"    // a visible cursor of the usual shape
         "\x1b[?2026l"          // output is shown at once
         "\x1b[?9l\x1b[?1000l"  // no reports of the mouse, of the focus
         "\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1004l"
         "\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l"
         "\x1b[?2004l"    // pasted text is not bracketed
         "\x1b[?1l\x1b>"  // the keys send what they usually do
         "\x1b[>4m\x1b[=0u";
}

std::string CleanScreen(int rows) {
  std::string bytes(ResetOfModes());
  bytes += "\x1b[999;1H";
  bytes.append(static_cast<size_t>(rows > 0 ? rows : 0), '\n');
  return bytes + "\x1b[2J\x1b[H";
}

}  // namespace holdfast::cli
