#include <fcntl.h>
#include <semaphore.h>

#include "sandboxee.h"

int main() {
  sem_t* const semaphore = ::sem_open("/sandboxee-own", O_CREAT, 0600, 1);
  if (semaphore == SEM_FAILED || ::sem_wait(semaphore) < 0) return Refused(errno);
  return Judge(::sem_unlink("/sandboxee-own"));
}
