#include <sys/mount.h>

#include "sandboxee.h"

int main() { return JudgeReached(::fsmount(-1, 0, 0), EBADF); }
