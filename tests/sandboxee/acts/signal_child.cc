#include <sys/wait.h>

#include <csignal>

#include "child.h"
#include "sandboxee.h"

int main() {
  const Child child;
  if (::kill(child.pid(), SIGTERM) < 0) return Refused(errno);
  int status = 0;
  return ::waitpid(child.pid(), &status, 0) > 0 && WTERMSIG(status) == SIGTERM ? kDone : Refused(ECHILD);
}
