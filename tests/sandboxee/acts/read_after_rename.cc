#include <fcntl.h>

#include <cstdio>

#include "sandboxee.h"

int main(int, char** argv) {
  if (std::rename(Word(argv, 1), Word(argv, 2)) < 0) return Refused(errno);
  return Judge(::open(Word(argv, 3), O_RDONLY | O_CLOEXEC));
}
