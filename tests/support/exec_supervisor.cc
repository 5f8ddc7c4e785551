#include "support/exec_supervisor.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/test_socket.h"
#include "sys/descriptor_passing.h"
#include "sys/socket_pair.h"

namespace holdfast::support {
namespace {

short Await(int fd) {
  pollfd ready = {fd, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(kPatience.count())) != 1) ADD_FAILURE() << "the supervisor waits in vain";
  return ready.revents;
}

// Returns the text at an address in the memory of a process, which needs the right to inspect that process.
std::string TextIn(uint32_t pid, uint64_t address) {
  const OwnedFd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory.is_open()) return fmt::format("open: {}", ErrnoText(errno));
  char text[PATH_MAX + 1] = {};
  const ssize_t size = ::pread(memory.get(), text, PATH_MAX, static_cast<off_t>(address));
  return size < 0 ? fmt::format("pread: {}", ErrnoText(errno)) : std::string(text);
}

}  // namespace

ExecSupervisor::ExecSupervisor() : pair_(*sys::MakeSocketPair(sys::SocketKind::kPacket)) {}

bool ExecSupervisor::ReceiveListener() {
  if ((Await(pair_.ours.get()) & POLLIN) == 0) return false;
  auto fds = sys::ReceiveDescriptors(pair_.ours.get());
  if (!fds || fds->size() != 1) return false;
  listener_ = std::move(fds->front());
  return true;
}

void ExecSupervisor::Confirm() const { (void)sys::Write(pair_.ours.get(), "", 1); }

std::optional<std::string> ExecSupervisor::Continue() const { return Answer(0); }
std::optional<std::string> ExecSupervisor::Refuse(int error) const { return Answer(error); }

std::optional<std::string> ExecSupervisor::Answer(int error) const {
  if ((Await(listener_.get()) & POLLIN) == 0) return std::nullopt;
  seccomp_notif call = {};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) return std::nullopt;
  const size_t path = call.data.nr == __NR_execveat ? 1 : 0;
  std::string text = TextIn(call.pid, call.data.args[path]);
  seccomp_notif_resp reply = {
      .id = call.id, .val = 0, .error = -error, .flags = error == 0 ? uint32_t{SECCOMP_USER_NOTIF_FLAG_CONTINUE} : 0u};
  (void)::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);  // the caller may be gone
  return text;
}

}  // namespace holdfast::support
