#include <sys/wait.h>
#include <unistd.h>

#include "sandboxee.h"

int main() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
    ::_exit(1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 ? kDone : Refused(ECHILD);
}
