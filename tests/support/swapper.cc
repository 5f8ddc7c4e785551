#include "support/swapper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace holdfast::support {

Swapper::Swapper(const std::string& a, const std::string& b, std::chrono::milliseconds rest) : pid_(::fork()) {
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
    if (rest.count() > 0) ::poll(nullptr, 0, static_cast<int>(::random() % rest.count()));
  }
}

Swapper::~Swapper() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace holdfast::support
