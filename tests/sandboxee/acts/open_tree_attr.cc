// The call is made by its number, because the headers of older systems do not name it.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main() { return Judge(::syscall(467, AT_FDCWD, "/", 0, nullptr, 0)); }
