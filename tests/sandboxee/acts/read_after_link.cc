#include <fcntl.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  if (::link(Word(argv, 1), Word(argv, 2)) < 0) return Refused(errno);
  return Judge(::open(Word(argv, 2), O_RDONLY | O_CLOEXEC));
}
