// renew_mode DESCRIPTOR: sets the mode that the file has already, so that nothing changes outside.
#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = static_cast<int>(Number(argv, 1));
  struct stat status;
  return ::fstat(fd, &status) < 0 ? Refused(errno) : Judge(::fchmod(fd, status.st_mode & 07777));
}
