#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() {
  io_uring_params parameters = {};
  return Judge(::syscall(SYS_io_uring_setup, 4, &parameters));
}
