// The act moves a directory and writes a file by its new name.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "sandboxee.h"

int main(int, char** argv) {
  if (std::rename(Word(argv, 1), Word(argv, 2)) < 0) return Refused(errno);
  const int fd = ::open(Word(argv, 3), O_WRONLY | O_APPEND | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::write(fd, "x", 1));
}
