// The act executes a copy of the program in memory. The status of the copy is the status of the act.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int from = ::open(Word(argv, 1), O_RDONLY | O_CLOEXEC), file = ::memfd_create("program", MFD_CLOEXEC);
  if (from < 0 || file < 0) GiveUp(argv[1]);
  while (::sendfile(file, from, nullptr, 1 << 20) > 0) {
  }
  ::fexecve(file, argv + 1, environ);
  return Refused(errno);
}
