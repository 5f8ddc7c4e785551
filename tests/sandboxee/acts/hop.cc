// This program tries to escape being killed. It starts chains of processes, each of which forks the next, in a session
// of its own, and exits at once. No number stays valid for long, no group has two of the processes, and their parent
// always has another dead child to reap.
//
//   hop CHAINS          prints "hopping" when all chains are under way
//   hop CHAINS orphan   and then kills its parent, which is the one that should end it
#include <sys/types.h>
#include <unistd.h>

#include <csignal>

#include "sandboxee.h"

namespace {

[[noreturn]] void Hop() {
  for (;;) {
    const pid_t next = ::fork();
    if (next > 0) ::_exit(0);
    if (next == 0) ::setsid();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long chains = Number(argv, 1);
  for (long i = 0; i < chains; ++i) {
    if (::fork() == 0) Hop();
  }
  (void)!::write(STDOUT_FILENO, "hopping\n", 8);
  if (argc > 2) (void)::kill(::getppid(), SIGKILL);
  for (;;) ::pause();
}
