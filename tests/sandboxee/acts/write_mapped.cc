#include <fcntl.h>
#include <sys/mman.h>

#include "sandboxee.h"

int main(int, char** argv) {
  const int fd = ::open(Word(argv, 1), O_RDWR | O_CLOEXEC);
  void* const start = fd < 0 ? MAP_FAILED : ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) return Refused(errno);
  *static_cast<volatile char*>(start) = 'x';
  return kDone;
}
