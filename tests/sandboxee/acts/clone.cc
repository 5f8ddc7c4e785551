#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "sandboxee.h"

int main(int, char** argv) {
  const long child = ::syscall(SYS_clone, static_cast<unsigned long>(Number(argv, 1)) | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) ::_exit(0);
  return Judge(child);
}
