#include <sys/ioctl.h>

#include "sandboxee.h"
#include "terminal.h"

int main() {
  const Terminal terminal;
  winsize size = {};
  size.ws_row = 24;
  return Judge(::ioctl(terminal.user_end(), TIOCSWINSZ, &size));
}
