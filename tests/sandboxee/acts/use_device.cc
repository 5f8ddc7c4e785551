// /dev/full answers ENOSPC, as it should.
#include <fcntl.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_RDWR | O_CLOEXEC);
  char byte = 0;
  if (fd < 0 || ::read(fd, &byte, 1) < 0) return Refused(errno);
  const ssize_t written = ::write(fd, &byte, 1);
  return written == 1 || errno == ENOSPC ? kDone : Refused(errno);
}
