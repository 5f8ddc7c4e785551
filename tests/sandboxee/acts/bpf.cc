// The act asks for a bpf command that does not exist.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return JudgeReached(::syscall(SYS_bpf, 9999, nullptr, 0), EINVAL); }
