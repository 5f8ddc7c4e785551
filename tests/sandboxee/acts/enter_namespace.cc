#include <fcntl.h>
#include <sched.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::setns(fd, 0));
}
