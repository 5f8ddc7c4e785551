#include <fcntl.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::fcntl(fd, F_NOTIFY, DN_CREATE));
}
