#include <sys/inotify.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int watch = ::inotify_init1(IN_CLOEXEC);
  return watch < 0 ? Refused(errno) : Judge(::inotify_add_watch(watch, Word(argv, 1), IN_CREATE));
}
