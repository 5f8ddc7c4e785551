#include <fcntl.h>
#include <stdio.h>

#include "sandboxee.h"

int main(int, char** argv) {
  return Judge(::renameat2(AT_FDCWD, Word(argv, 1), AT_FDCWD, Word(argv, 2), RENAME_EXCHANGE));
}
