// The kernel answers ENOTTY, because the terminal is not a console.
#include <sys/ioctl.h>

#include "sandboxee.h"
#include "terminal.h"

int main() {
  const Terminal terminal;
  char paste = 3;
  return JudgeReached(::ioctl(terminal.user_end(), TIOCLINUX, &paste), ENOTTY);
}
