// The act changes the inode through a descriptor that is open for reading.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_RDONLY | O_CLOEXEC);
  int flags = 0;
  if (fd < 0 || ::ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0) return Refused(errno);
  flags ^= FS_NODUMP_FL;
  return Judge(::ioctl(fd, FS_IOC_SETFLAGS, &flags));
}
