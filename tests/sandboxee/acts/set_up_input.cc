// The act takes a thousandth of the machine's quota of asynchronous input and output. A loop over it takes all.
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() {
  aio_context_t context = 0;
  return Judge(::syscall(SYS_io_setup, 64, &context));
}
