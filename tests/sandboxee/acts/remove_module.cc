#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return JudgeReached(::syscall(SYS_delete_module, "sandboxee_has_no_such_module", O_NONBLOCK), ENOENT); }
