#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/io.h"
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

Result<std::string> DescriptionOf(int fd) {
  const std::string path = fmt::format("/proc/self/fdinfo/{}", fd);
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer;
  const ssize_t size = file.is_open() ? Read(file.get(), buffer.data(), buffer.size()) : -errno;
  if (size < 0) return FailErrno("read", path, static_cast<int>(-size));
  return std::string(buffer.data(), static_cast<size_t>(size));
}

// What stands behind `key` on a line of its own; empty when there is no such line.
std::string_view LineOf(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<PidNamespace> NamespaceOfUnixPeer(int socket) {
  TRY(const std::optional<OwnedFd> pidfd, PidfdOfPeer(socket));
  if (!pidfd) return PidNamespace::kElsewhere;
  TRY(const std::string description, DescriptionOf(pidfd->get()));
  const std::string_view number = LineOf(description, "\nPid:\t");
  if (number == "0") return PidNamespace::kElsewhere;
  if (number.empty() || number.starts_with('-'))
    return Fail(ErrorKind::kNotFound, "the process at the other end has ended");
  // A process has one number in each namespace from ours down to its own.
  return LineOf(description, "\nNSpid:\t").contains('\t') ? PidNamespace::kBelow : PidNamespace::kElsewhere;
}

}  // namespace holdfast::sys
