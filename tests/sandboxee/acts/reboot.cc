// Without the magic numbers the call does nothing.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return JudgeReached(::syscall(SYS_reboot, 0, 0, 0, nullptr), EINVAL); }
