// The act makes the system call directly, because libc would check the value first.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "sandboxee.h"

int main() {
  const timeval impossible = {0, 10'000'000};
  return JudgeReached(::syscall(SYS_settimeofday, &impossible, nullptr), EINVAL);
}
