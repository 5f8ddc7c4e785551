// A process that opens the file for writing waits until the lease is given back, or for 45 seconds.
#include <fcntl.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::fcntl(fd, F_SETLEASE, F_RDLCK));
}
