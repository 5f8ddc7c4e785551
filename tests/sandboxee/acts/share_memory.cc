#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "sandboxee.h"

// The act uses shared memory of its own, in every way that there is.
int main() {
  const int fd = ::shm_open("/sandboxee-own", O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::ftruncate(fd, 4096) < 0 || ::shm_unlink("/sandboxee-own") < 0) return Refused(errno);
  if (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) return Refused(errno);
  const int segment = ::shmget(IPC_PRIVATE, 4096, 0600);
  return segment < 0 ? Refused(errno) : Judge(::shmctl(segment, IPC_RMID, nullptr));
}
