// EIO: the kernel has it switched off for everybody.
#include <sys/ioctl.h>

#include "sandboxee.h"
#include "terminal.h"

int main() {
  const Terminal terminal;
  return JudgeReached(::ioctl(terminal.user_end(), TIOCSTI, "x"), EIO);
}
