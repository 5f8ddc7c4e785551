#include "sandbox/native/namespaces.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sandbox/jail/group_limits.h"
#include "sys/io.h"
#include "sys/signals.h"

namespace holdfast::sandbox {
namespace {

CallResult<> WriteFile(const char* path, std::string_view text) {
  const OwnedFd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return FailCall("open", path);
  const ssize_t written = sys::Write(file.get(), text.data(), text.size());
  if (written < 0) return FailCall("write", path, static_cast<int>(-written));
  return {};
}

}  // namespace

// The signal mask of the child is that of its parent at the clone. A signal that reaches pid 1 unblocked before it has
// an action for it would be lost.
CallResult<sys::Child> CloneInto(uint64_t namespaces) {
  int pidfd = -1;
  clone_args args = {};
  args.flags = namespaces | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  const int error = errno;
  if (pid != 0) ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return FailCall("clone3", "namespaces", error);
  return sys::Child{static_cast<pid_t>(pid), OwnedFd(pid == 0 ? -1 : pidfd)};
}

User User::OfThisProcess() { return {.uid = ::geteuid(), .gid = ::getegid()}; }

// A process whose program cannot be read is not dumpable, and its /proc/self belongs to root. It becomes dumpable until
// the maps are written; the inner stage ends that before it starts anything.
CallResult<> SettleIn(const User& user) {
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) return FailCall("prctl", "dumpable");
  TRY_VOID(WriteFile("/proc/self/setgroups", "deny"));
  TRY_VOID(WriteFile("/proc/self/uid_map", fmt::format("{} {} 1", user.uid, user.uid)));
  TRY_VOID(WriteFile("/proc/self/gid_map", fmt::format("{} {} 1", user.gid, user.gid)));
  LimitGroups();
  return {};
}

Result<> RaiseLoopback() {
  const OwnedFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return FailErrno("socket", "lo");
  ifreq request = {};
  std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) < 0) return FailErrno("ioctl", "lo");
  request.ifr_flags |= IFF_UP;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) < 0) return FailErrno("ioctl", "lo");
  return {};
}

}  // namespace holdfast::sandbox
