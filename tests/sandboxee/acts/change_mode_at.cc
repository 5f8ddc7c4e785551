// change_mode_at MODE PATH
#include <fcntl.h>
#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) {
  return Judge(::fchmodat(AT_FDCWD, Word(argv, 2), static_cast<mode_t>(Number(argv, 1)), 0));
}
