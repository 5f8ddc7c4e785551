// Writable, if it is a mount point; the kernel says EINVAL if not.
#include <sys/mount.h>

#include "sandboxee.h"

int main(int, char** argv) {
  return JudgeReached(::mount(nullptr, Word(argv, 1), nullptr, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, nullptr),
                      EINVAL);
}
