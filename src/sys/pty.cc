#include "sys/pty.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace holdfast::sys {

Result<Pty> OpenPty(WindowSize size) {
  OwnedFd master(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!master.is_open()) return FailErrno("open", "/dev/ptmx");
  int unlock = 0;
  if (::ioctl(master.get(), TIOCSPTLCK, &unlock) < 0) return FailErrno("ioctl", "TIOCSPTLCK");
  // The slave is opened by the master's descriptor and not by its name under /dev/pts. This also works in a container
  // that has another devpts mounted.
  OwnedFd slave(::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave.is_open()) return FailErrno("ioctl", "TIOCGPTPEER");
  TRY_VOID(SetWindowSize(master.get(), size));
  return Pty{std::move(master), std::move(slave)};
}

Result<> SetWindowSize(int master, WindowSize size) {
  winsize window = {.ws_row = size.rows, .ws_col = size.cols, .ws_xpixel = 0, .ws_ypixel = 0};
  if (::ioctl(master, TIOCSWINSZ, &window) < 0) return FailErrno("ioctl", "TIOCSWINSZ");
  return {};
}

Result<EndOfFile> EndOfFileOf(int master) {
  termios settings;
  if (::tcgetattr(master, &settings) < 0) return FailErrno("tcgetattr");
  return EndOfFile{static_cast<char>(settings.c_cc[VEOF]), (settings.c_lflag & ICANON) != 0};
}

}  // namespace holdfast::sys
