#include "sys/pidfd.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace holdfast::sys {

void SendSignal(int pidfd, int signal) {
  // ESRCH is the only failure for a child of our own uid: it ended, which is what a signal is for.
  (void)::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0);
}

Ending TryReap(int pidfd) {
  siginfo_t info = {};
  int result;
  do {
    result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
  } while (result < 0 && errno == EINTR);
  if (result == 0 && info.si_pid == 0) return Ending::kStillRunning;
  bool clean = result == 0 && info.si_code == CLD_EXITED && info.si_status == 0;
  return clean ? Ending::kExitedCleanly : Ending::kOtherwise;
}

}  // namespace holdfast::sys
