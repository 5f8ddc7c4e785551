// If the program can be started, its status is the status of the act.
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  ::execv(Word(argv, 1), argv + 1);
  return Refused(errno);
}
