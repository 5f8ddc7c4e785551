#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return JudgeReached(::syscall(SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0), EBADF); }
