#include <fcntl.h>
#include <unistd.h>

#include "sandboxee.h"

// The act leaves a daemon behind that has no parent, session or descriptors in common with it. The act is done when the
// daemon runs.
int main() {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) < 0) GiveUp("pipe2");
  if (::fork() == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    (void)::write(ready[1], "x", 1);  // after a failure the reader sees the end of the pipe without this byte
    ::close(ready[0]);
    ::close(ready[1]);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char byte;
  return ::read(ready[0], &byte, 1) == 1 ? kDone : kNotTried;
}
