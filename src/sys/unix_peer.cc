#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "sys/fdinfo.h"
#include "sys/peer.h"
#include "sys/pidfd.h"

namespace holdfast::sys {
namespace {

// Absent from older headers; Linux has it from 6.5 on.
constexpr int kPeerPidfd = 77;

// A process that the kernel does not show in our pid namespace has no pidfd for us.
Result<std::optional<OwnedFd>> PidfdByNumber(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return FailErrno("getsockopt", "SO_PEERCRED");
  if (peer.pid == 0) return std::nullopt;
  TRY(OwnedFd pidfd, OpenPidfd(peer.pid));
  return pidfd;
}

Result<std::optional<OwnedFd>> PidfdOfPeer(int socket) {
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &pidfd, &size) == 0) return OwnedFd(pidfd);
  if (errno == ENOPROTOOPT) return PidfdByNumber(socket);
  return FailErrno("getsockopt", "SO_PEERPIDFD");
}

}  // namespace

Result<PidNamespace> NamespaceOfUnixPeer(int socket) {
  TRY(const std::optional<OwnedFd> pidfd, PidfdOfPeer(socket));
  if (!pidfd) return PidNamespace::kElsewhere;
  TRY(const std::string description, ReadFdInfo(pidfd->get()));
  const std::string_view number = ValueIn(description, "Pid");
  if (number == "0") return PidNamespace::kElsewhere;
  if (number.empty() || number.starts_with('-'))
    return Fail(ErrorKind::kNotFound, "the process at the other end has ended");
  // A process has one number in each namespace from ours down to its own.
  return ValueIn(description, "NSpid").contains('\t') ? PidNamespace::kBelow : PidNamespace::kElsewhere;
}

}  // namespace holdfast::sys
