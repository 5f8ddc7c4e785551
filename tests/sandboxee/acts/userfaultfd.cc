// Of user mode only: for everybody.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return Judge(::syscall(SYS_userfaultfd, 1)); }
