#include <fcntl.h>
#include <sys/file.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_RDWR | O_CLOEXEC);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  if (fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) < 0) return Refused(errno);
  return Judge(::fcntl(fd, F_SETLK, &whole));
}
