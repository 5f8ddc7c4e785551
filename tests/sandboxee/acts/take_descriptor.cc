#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"
#include "sandboxee.h"

int main() {
  const Child child;
  const long process = ::syscall(SYS_pidfd_open, child.pid(), 0);
  if (process < 0) GiveUp("pidfd_open");
  return Judge(::syscall(SYS_pidfd_getfd, process, 0, 0));
}
