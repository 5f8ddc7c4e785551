// EINVAL means that the path is not a mount point.
#include <sys/mount.h>

#include "sandboxee.h"

int main(int, char** argv) { return JudgeReached(::umount2(Word(argv, 1), MNT_DETACH), EINVAL); }
