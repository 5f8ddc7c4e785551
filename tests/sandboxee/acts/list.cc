#include <dirent.h>

#include "sandboxee.h"

int main(int, char** argv) {
  DIR* directory = ::opendir(Word(argv, 1));
  return directory == nullptr ? Refused(errno) : kDone;
}
