#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return JudgeReached(::syscall(SYS_pivot_root, "/sandboxee/no/such", "/sandboxee"), ENOENT); }
