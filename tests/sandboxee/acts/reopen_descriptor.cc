// The act opens the file of a descriptor that is open for reading again, for writing.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "sandboxee.h"

int main(int, char** argv) {
  const std::string path = std::string("/proc/self/fd/") + Word(argv, 1);
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  return fd < 0 ? Refused(errno) : Judge(::write(fd, "x", 1));
}
