// The act gives a name to a file that it only has open.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "sandboxee.h"

int main(int, char** argv) {
  const std::string from = std::string("/proc/self/fd/") + Word(argv, 1);
  return Judge(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, Word(argv, 2), AT_SYMLINK_FOLLOW));
}
