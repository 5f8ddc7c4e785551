#include "escalate/wrapper/inheritance.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/parse_number.h"
#include "escalate/stand_in/own_signals.h"
#include "sys/directory.h"

namespace holdfast::escalate {
namespace {

bool IsInherited(int fd) {
  const int flags = ::fcntl(fd, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

mode_t CurrentUmask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

}  // namespace

Result<std::vector<int>> InheritedFds(int left_out) {
  const sys::DirectoryStream directory(::opendir("/proc/self/fd"));
  if (!directory) return FailErrno("open", "/proc/self/fd");
  std::vector<int> fds;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto fd = ParseNumber<int>(entry->d_name);
    if (fd && *fd != left_out && IsInherited(*fd)) fds.push_back(*fd);
  }
  std::ranges::sort(fds);
  return fds;
}

ProcessState InheritedState() {
  ProcessState state{.umask = CurrentUmask()};
  sigset_t blocked;
  ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      state.ignored_signals |= SignalBit(signal);
    }
    if (::sigismember(&blocked, signal) == 1) state.blocked_signals |= SignalBit(signal);
  }
  state.nice = ::getpriority(PRIO_PROCESS, 0);
  return state;
}

}  // namespace holdfast::escalate
