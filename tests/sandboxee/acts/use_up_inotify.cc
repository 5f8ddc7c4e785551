// The act takes more than half of the 128 instances that a user has by default.
#include <sys/inotify.h>

#include "sandboxee.h"

int main() {
  for (int i = 0; i < 70; ++i) {
    if (::inotify_init1(IN_CLOEXEC) < 0) return Refused(errno);
  }
  return kDone;
}
