#include <sys/mount.h>

#include "sandboxee.h"

int main() { return JudgeReached(::fsconfig(-1, FSCONFIG_SET_FLAG, "ro", nullptr, 0), EINVAL); }
