// change_mode_at2 MODE PATH: by fchmodat2, which libc need not know.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::syscall(452, AT_FDCWD, Word(argv, 2), Number(argv, 1), 0)); }
