#include "sandbox/jail/control_socket.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <string>

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

std::optional<KeeperInstruction> ControlSocket::Receive() const {
  KeeperInstruction instruction;
  const ssize_t size = sys::Read(fd_, &instruction, sizeof instruction);
  if (size == -EAGAIN) return std::nullopt;
  if (size == sizeof instruction && instruction.kind == KeeperInstructionKind::kSignal) return instruction;
  return KeeperInstruction{KeeperInstructionKind::kKill, 0};
}

// The server reads what has been sent before it gets more, so there is room for each event in the end.
bool ControlSocket::Send(KeeperEventKind kind, int value, std::string_view text) const {
  const process::KeeperEvent event = {kind, value, StartStep::kNone};
  std::string packet(reinterpret_cast<const char*>(&event), sizeof event);
  packet += text.substr(0, process::kMaxReasonBytes);
  for (;;) {
    const ssize_t size = sys::Write(fd_, packet.data(), packet.size());
    if (size != -EAGAIN) return size == static_cast<ssize_t>(packet.size());
    pollfd socket = {fd_, POLLOUT, 0};
    (void)::poll(&socket, 1, -1);  // the next write tells what has happened
  }
}

}  // namespace holdfast::sandbox
