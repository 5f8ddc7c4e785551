// The act makes a mount point writable. The kernel answers EINVAL when the path is not a mount point.
#include <sys/mount.h>

#include "sandboxee.h"

int main(int, char** argv) {
  return JudgeReached(::mount(nullptr, Word(argv, 1), nullptr, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, nullptr),
                      EINVAL);
}
