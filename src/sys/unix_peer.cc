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

// SO_PEERPIDFD, which older headers do not define. Linux has it from version 6.5 on.
constexpr int kPeerPidfd = 77;

// Returns nothing for a process that does not exist in our pid namespace, where the kernel only knows it by its pid.
Result<std::optional<OwnedFd>> PidfdOfPeer(int socket, pid_t pid) {
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &pidfd, &size) == 0) return OwnedFd(pidfd);
  if (errno != ENOPROTOOPT) return FailErrno("getsockopt", "SO_PEERPIDFD");
  if (pid == 0) return std::nullopt;
  TRY(OwnedFd opened, OpenPidfd(pid));
  return opened;
}

}  // namespace

Result<ucred> CredentialsOfUnixPeer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return FailErrno("getsockopt", "SO_PEERCRED");
  return peer;
}

Result<Child> UnixPeer(int socket) {
  TRY(const ucred peer, CredentialsOfUnixPeer(socket));
  TRY(std::optional<OwnedFd> pidfd, PidfdOfPeer(socket, peer.pid));
  if (peer.pid == 0 || !pidfd) {
    return Fail(ErrorKind::kNotFound, "the process at the other end is in another pid namespace");
  }
  return Child{.pid = peer.pid, .pidfd = *std::move(pidfd)};
}

Result<PidNamespace> NamespaceOfUnixPeer(int socket) {
  TRY(const ucred peer, CredentialsOfUnixPeer(socket));
  TRY(const std::optional<OwnedFd> pidfd, PidfdOfPeer(socket, peer.pid));
  if (!pidfd) return PidNamespace::kElsewhere;
  TRY(const std::string description, ReadFdInfo(pidfd->get()));
  const std::string_view number = ValueIn(description, "Pid");
  if (number == "0") return PidNamespace::kElsewhere;
  if (number.empty() || number.starts_with('-'))
    return Fail(ErrorKind::kNotFound, "the process at the other end has ended");
  // A process has one pid in each namespace from ours down to its own, so a second pid means a namespace below ours.
  return ValueIn(description, "NSpid").contains('\t') ? PidNamespace::kBelow : PidNamespace::kOurs;
}

}  // namespace holdfast::sys
