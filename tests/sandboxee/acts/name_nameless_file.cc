// name_nameless_file MODE PATH: the file gets its mode while it has no name.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "sandboxee.h"

int main(int, char** argv) {
  ::umask(0);
  const std::string path = Word(argv, 2), directory = path.substr(0, path.rfind('/'));
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, static_cast<mode_t>(Number(argv, 1)));
  if (fd < 0) return Refused(errno);
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  return Judge(::linkat(AT_FDCWD, name.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW));
}
