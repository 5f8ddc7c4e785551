// The act opens any descriptor of another process.
#include <fcntl.h>

#include <string>

#include "sandboxee.h"

int main(int, char** argv) {
  const std::string directory = std::string("/proc/") + Word(argv, 1) + "/fd/";
  int error = ENOENT;
  for (int fd = 0; fd < 64; ++fd) {
    if (::open((directory + std::to_string(fd)).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0) return kDone;
    if (errno != ENOENT) error = errno;
  }
  return Refused(error);
}
