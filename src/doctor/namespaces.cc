#include "doctor/namespaces.h"

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/owned_fd.h"
#include "sys/io.h"
#include "sys/spawn.h"

namespace holdfast::doctor {
namespace {

using Clock = std::chrono::steady_clock;

int ErrorOf(int result) { return result < 0 ? errno : 0; }

int UnshareInChild(int flags) { return ErrorOf(::unshare(flags)); }

int WriteInChild(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ErrorOf(static_cast<int>(::write(fd, text, std::strlen(text))));
  ::close(fd);
  return error;
}

// Writes "0 UID 1": inside, this user is root.
int MapIdsInChild(uid_t uid) {
  char line[32] = "0 ";
  char* const end = std::to_chars(line + 2, line + 20, uid).ptr;
  std::memcpy(end, " 1", 3);
  return WriteInChild("/proc/self/uid_map", line);
}

int OwnMountsInChild() {
  if (const int error = UnshareInChild(CLONE_NEWNS); error != 0) return error;
  return ErrorOf(::mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr));
}

int OwnNetworkInChild() {
  if (const int error = UnshareInChild(CLONE_NEWNET); error != 0) return error;
  const int any = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return errno;
  ifreq loopback = {};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP;
  const int error = ErrorOf(::ioctl(any, SIOCSIFFLAGS, &loopback));
  ::close(any);
  return error;
}

// Has the first process of the new pid namespace mount /proc. The exit status of that process is the errno.
int FreshProcInChild() {
  auto in_first = [] { return ErrorOf(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr)); };
  const auto first = sys::Spawn(sys::Sharing::kNothing, in_first);
  if (!first) return EAGAIN;
  const int status = sys::AwaitStatus(*first);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int TryInChild(NamespaceTrial trial, uid_t uid) {
  switch (trial) {
    case NamespaceTrial::kUser:
      return UnshareInChild(CLONE_NEWUSER);
    case NamespaceTrial::kIdMap:
      return MapIdsInChild(uid);
    case NamespaceTrial::kMount:
      return OwnMountsInChild();
    case NamespaceTrial::kIpc:
      return UnshareInChild(CLONE_NEWIPC);
    case NamespaceTrial::kUts:
      return UnshareInChild(CLONE_NEWUTS);
    case NamespaceTrial::kNetwork:
      return OwnNetworkInChild();
    case NamespaceTrial::kPid:
      return UnshareInChild(CLONE_NEWPID);
    case NamespaceTrial::kFreshProc:
      return FreshProcInChild();
  }
  return EINVAL;
}

// Does all trials, and writes each result to `report`. A trial that needs an earlier one which failed gets the same
// error. The mounts of the caller are never touched: without a mount namespace of its own, the child mounts nothing.
void TryAllInChild(int report, uid_t uid, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return;
  NamespaceErrors errors = {};
  for (size_t i = 0; i < kNamespaceTrials; ++i) {
    const auto trial = static_cast<NamespaceTrial>(i);
    int blocker = 0;
    if (trial == NamespaceTrial::kIdMap) blocker = errors[static_cast<size_t>(NamespaceTrial::kUser)];
    if (trial == NamespaceTrial::kFreshProc) {
      blocker = errors[static_cast<size_t>(NamespaceTrial::kMount)];
      if (blocker == 0) blocker = errors[static_cast<size_t>(NamespaceTrial::kPid)];
    }
    errors[i] = blocker != 0 ? blocker : TryInChild(trial, uid);
    (void)sys::Write(report, &errors[i], sizeof errors[i]);  // if the reader is gone, SIGPIPE ends this process
  }
}

int TimeLeftMs(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

}  // namespace

NamespaceErrors TryNamespaces(std::chrono::milliseconds limit) {
  NamespaceErrors errors;
  errors.fill(ETIMEDOUT);
  const Clock::time_point deadline = Clock::now() + limit;
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  if (!pipe) return errors;
  const uid_t uid = ::geteuid();
  const pid_t parent = ::getpid();
  auto in_child = [&] {
    TryAllInChild(pipe->write_end.get(), uid, parent);
    return 0;
  };
  const auto child = sys::Spawn(sys::Sharing::kNothing, in_child);
  if (!child) return errors;
  pipe->write_end.Reset();
  for (size_t done = 0; done < errors.size();) {
    if (Clock::now() >= deadline) break;  // poll with a timeout of zero would still find a result
    pollfd readable = {pipe->read_end.get(), POLLIN, 0};
    const int ready = ::poll(&readable, 1, TimeLeftMs(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    // Each result is written by one call, and a pipe does not split a write of so few bytes.
    if (sys::Read(pipe->read_end.get(), &errors[done], sizeof errors[done]) != sizeof errors[done]) break;
    ++done;
  }
  ::kill(*child, SIGKILL);
  (void)sys::AwaitStatus(*child);
  return errors;
}

}  // namespace holdfast::doctor
