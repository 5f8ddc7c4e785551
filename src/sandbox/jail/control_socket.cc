#include "sandbox/jail/control_socket.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>

#include "sys/io.h"

namespace holdfast::sandbox {

using process::KeeperEventKind;
using process::KeeperInstruction;
using process::KeeperInstructionKind;
using process::StartStep;

Result<> ControlSocket::Arm() const {
  if (::fcntl(fd_, F_SETFD, FD_CLOEXEC) < 0) return FailErrno("fcntl", "control socket");
  return sys::SetBlocking(fd_, sys::Blocking::kNo);
}

bool ControlSocket::IsCut() const {
  pollfd socket = {fd_, 0, 0};
  return ::poll(&socket, 1, 0) == 1;
}

bool ControlSocket::SendBegun() const { return Send({KeeperEventKind::kBegun, 0, StartStep::kNone}); }

void ControlSocket::SendExited(int wait_status) const {
  (void)Send({KeeperEventKind::kExited, wait_status, StartStep::kNone});  // without a server no process waits for it
}

std::optional<KeeperInstruction> ControlSocket::Receive() const {
  KeeperInstruction instruction;
  const ssize_t size = sys::Read(fd_, &instruction, sizeof instruction);
  if (size == -EAGAIN) return std::nullopt;
  if (size == sizeof instruction && instruction.kind == KeeperInstructionKind::kSignal) return instruction;
  return KeeperInstruction{KeeperInstructionKind::kKill, 0};
}

// The server reads what has been sent before it gets more, so there is room for each event in the end.
bool ControlSocket::Send(const process::KeeperEvent& event) const {
  for (;;) {
    const ssize_t size = sys::Write(fd_, &event, sizeof event);
    if (size != -EAGAIN) return size == sizeof event;
    pollfd socket = {fd_, POLLOUT, 0};
    (void)::poll(&socket, 1, -1);  // the next write tells what has happened
  }
}

}  // namespace holdfast::sandbox
