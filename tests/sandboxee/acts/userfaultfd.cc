// The call asks for faults in user mode only, which needs no rights.
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return Judge(::syscall(SYS_userfaultfd, 1)); }
