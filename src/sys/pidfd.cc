#include "sys/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "sys/exit_status.h"

namespace holdfast::sys {

Result<OwnedFd> OpenPidfd(pid_t pid) {
  OwnedFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.is_open()) return FailErrno("pidfd_open", std::to_string(pid));
  return fd;
}

Result<OwnedFd> OpenThreadPidfd(pid_t tid, pid_t process) {
  constexpr unsigned of_thread = 0x80;  // PIDFD_THREAD
  OwnedFd thread(static_cast<int>(::syscall(SYS_pidfd_open, tid, of_thread)));
  if (thread.is_open()) return thread;
  return OpenPidfd(process);
}

OwnedFd TakeFd(int pidfd, int number) {
  return OwnedFd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, number, 0)));
}

void SendSignal(int pidfd, int signal) {
  // For a child with our own uid the only possible failure is ESRCH: the child has ended, so it needs no signal.
  (void)::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0);
}

bool HasEnded(int pidfd) {
  pollfd process{pidfd, POLLIN, 0};
  return ::poll(&process, 1, 0) == 1;
}

Result<> AwaitEnd(int pidfd) {
  pollfd ended = {.fd = pidfd, .events = POLLIN, .revents = 0};
  while (::poll(&ended, 1, -1) < 0) {
    if (errno != EINTR) return FailErrno("poll", "pidfd");
  }
  return {};
}

Result<> KillAndAwaitEnd(int pidfd) {
  SendSignal(pidfd, SIGKILL);
  return AwaitEnd(pidfd);
}

Ending TryReap(int pidfd) {
  siginfo_t info = {};
  int result;
  do {
    result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG);
  } while (result < 0 && errno == EINTR);
  if (result == 0 && info.si_pid == 0) return Ending::kStillRunning;
  // The kernel itself has reaped the child, which it does depending on the action of SIGCHLD, and may keep the status.
  if (result < 0 && errno == ECHILD) {
    return raw::StatusAfterReaping(pidfd) == 0 ? Ending::kExitedCleanly : Ending::kOtherwise;
  }
  bool clean = result == 0 && info.si_code == CLD_EXITED && info.si_status == 0;
  return clean ? Ending::kExitedCleanly : Ending::kOtherwise;
}

}  // namespace holdfast::sys
