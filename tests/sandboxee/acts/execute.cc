// The verdict is that program's, if it can be started.
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  ::execv(Word(argv, 1), argv + 1);
  return Refused(errno);
}
