// The act writes a file by a directory that was opened outside.
#include <fcntl.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::openat(static_cast<int>(Number(argv, 1)), Word(argv, 2), O_WRONLY | O_APPEND | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::write(fd, "x", 1));
}
