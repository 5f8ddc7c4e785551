// create_by_openat2 MODE PATH: the mode is in memory, where no filter sees it.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  ::umask(0);
  open_how how = {};
  how.flags = O_CREAT | O_EXCL | O_WRONLY;
  how.mode = static_cast<mode_t>(Number(argv, 1));
  return Judge(::syscall(SYS_openat2, AT_FDCWD, Word(argv, 2), &how, sizeof how));
}
