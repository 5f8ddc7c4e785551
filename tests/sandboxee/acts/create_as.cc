// create_as MODE PATH
#include <fcntl.h>
#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) {
  ::umask(0);
  return Judge(::open(Word(argv, 2), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, static_cast<mode_t>(Number(argv, 1))));
}
