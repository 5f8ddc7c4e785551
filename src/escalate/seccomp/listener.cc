#include "escalate/seccomp/listener.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>

namespace holdfast::escalate {
namespace {

// The two constants are those of Linux 6.6, and not in the headers of older systems.
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);  // SECCOMP_IOCTL_NOTIF_SET_FLAGS
constexpr unsigned long kSyncWakeUp = 1;                       // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP

ExecCall CallOf(const seccomp_notif& notification) {
  const auto& args = notification.data.args;
  const auto tid = static_cast<pid_t>(notification.pid);
  if (notification.data.nr == SYS_execveat) {
    return {.id = notification.id,
            .tid = tid,
            .kind = ExecCall::Kind::kExecveat,
            .directory = static_cast<int>(args[0]),
            .path = args[1],
            .argv = args[2],
            .envp = args[3],
            .flags = static_cast<int>(args[4])};
  }
  return {.id = notification.id, .tid = tid, .path = args[0], .argv = args[1], .envp = args[2]};
}

void Send(int listener, seccomp_notif_resp answer) {
  while (::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno == EINTR) continue;
}

OrErrno<int> Add(int listener, seccomp_notif_addfd wish) {
  for (;;) {
    const int number = ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &wish);
    if (number >= 0) return number;
    if (errno != EINTR) return std::unexpected(errno);
  }
}

}  // namespace

// The flag makes the kernel run the caller and the supervisor on the same processor, one after the other: a call then
// waits half as long. Kernels that do not know it refuse it.
Listener::Listener(OwnedFd fd) : fd_(std::move(fd)) { (void)::ioctl(fd_.get(), kSetFlags, kSyncWakeUp); }

std::optional<ExecCall> Listener::Receive() const {
  seccomp_notif notification = {};
  if (::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) return std::nullopt;
  return CallOf(notification);
}

bool Listener::IsWaiting(uint64_t id) const { return ::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

void Listener::Continue(uint64_t id) const {
  Send(fd_.get(), {.id = id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

void Listener::Fail(uint64_t id, int errno_value) const {
  Send(fd_.get(), {.id = id, .val = 0, .error = -errno_value, .flags = 0});
}

OrErrno<int> Listener::AddFd(uint64_t id, int fd) const {
  return Add(fd_.get(),
             {.id = id, .flags = 0, .srcfd = static_cast<uint32_t>(fd), .newfd = 0, .newfd_flags = O_CLOEXEC});
}

OrErrno<int> Listener::AnswerWithFd(uint64_t id, int fd) const {
  return Add(fd_.get(), {.id = id,
                         .flags = SECCOMP_ADDFD_FLAG_SEND,
                         .srcfd = static_cast<uint32_t>(fd),
                         .newfd = 0,
                         .newfd_flags = O_CLOEXEC});
}

}  // namespace holdfast::escalate
