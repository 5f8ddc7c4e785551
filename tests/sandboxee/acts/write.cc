// O_NONBLOCK keeps the act from waiting for a reader of a FIFO.
#include <fcntl.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::write(fd, "x", 1));
}
