// The act makes a directory under a harmless name and renames it.
#include <sys/stat.h>

#include <cstdio>

#include "sandboxee.h"

int main(int, char** argv) {
  if (::mkdir(Word(argv, 1), 0755) < 0) return Refused(errno);
  return Judge(std::rename(argv[1], Word(argv, 2)));
}
