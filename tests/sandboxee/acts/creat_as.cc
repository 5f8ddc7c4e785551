// creat_as MODE PATH: by the call that has no flags.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  ::umask(0);
  return Judge(::syscall(SYS_creat, Word(argv, 2), Number(argv, 1)));
}
