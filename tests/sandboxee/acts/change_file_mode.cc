// change_file_mode MODE PATH: by a descriptor that is open for reading.
#include <fcntl.h>
#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 2), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::fchmod(fd, static_cast<mode_t>(Number(argv, 1))));
}
