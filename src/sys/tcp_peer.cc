#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "sys/io.h"
#include "sys/peer.h"

namespace holdfast::sys {
namespace {

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

struct Query {
  nlmsghdr header{};
  inet_diag_req_v2 request{};
};

// Copies the port and the address of an endpoint. The port stays in network byte order.
void Put(const Endpoint& endpoint, __be16& port, __be32 (&address)[4]) {
  if (endpoint.storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(endpoint.storage);
    port = v4.sin_port;
    address[0] = v4.sin_addr.s_addr;
    return;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(endpoint.storage);
  port = v6.sin6_port;
  std::memcpy(address, &v6.sin6_addr, sizeof(v6.sin6_addr));
}

// Returns a query for the socket whose own end is `own` and whose other end is `other`.
Query QueryFor(const Endpoint& own, const Endpoint& other) {
  Query query;
  query.header.nlmsg_len = sizeof(Query);
  query.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  query.header.nlmsg_flags = NLM_F_REQUEST;
  query.request.sdiag_family = static_cast<uint8_t>(own.storage.ss_family);
  query.request.sdiag_protocol = IPPROTO_TCP;
  Put(own, query.request.id.idiag_sport, query.request.id.idiag_src);
  Put(other, query.request.id.idiag_dport, query.request.id.idiag_dst);
  for (uint32_t& cookie : query.request.id.idiag_cookie) cookie = INET_DIAG_NOCOOKIE;
  return query;
}

Result<uid_t> ReadAnswer(std::string_view bytes) {
  nlmsghdr header;
  if (bytes.size() < sizeof header) return Fail(ErrorKind::kSystem, "sock_diag: the answer is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(NLMSG_HDRLEN);
  if (header.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error{};
    std::memcpy(&error, bytes.data(), std::min(bytes.size(), sizeof error));
    if (error.error == -ENOENT) return Fail(ErrorKind::kNotFound, "sock_diag: there is no such socket");
    return FailErrno("sock_diag", "", -error.error);
  }
  inet_diag_msg message;
  if (bytes.size() < sizeof message) return Fail(ErrorKind::kSystem, "sock_diag: the answer is too short");
  std::memcpy(&message, bytes.data(), sizeof message);
  // If there is no such connection, the kernel answers with a socket that listens on that port. A closed socket has no
  // inode, and belongs to no user.
  constexpr uint8_t kListening = 10;
  if (message.idiag_state == kListening || message.idiag_inode == 0) {
    return Fail(ErrorKind::kNotFound, "sock_diag: the socket is closed");
  }
  return message.idiag_uid;
}

Result<uid_t> Ask(const Query& query) {
  const OwnedFd netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink.is_open()) return FailErrno("socket", "NETLINK_SOCK_DIAG");
  // The kernel answers before send returns, so recv does not have to wait.
  if (::send(netlink.get(), &query, sizeof query, 0) < 0) return FailErrno("send", "sock_diag");
  std::array<char, 4096> answer;
  const ssize_t size = ::recv(netlink.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  if (size < 0) return FailErrno("recv", "sock_diag");
  return ReadAnswer({answer.data(), static_cast<size_t>(size)});
}

Result<Endpoint> EndOf(int socket, std::string_view call, int (*which)(int, sockaddr*, socklen_t*)) {
  Endpoint endpoint;
  if (which(socket, endpoint.get(), &endpoint.size) < 0) return FailErrno(call);
  return endpoint;
}

// Returns both ends of a TCP connection over the loopback address.
Result<SocketPair> ConnectToSelf() {
  const OwnedFd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SocketPair pair{.ours = OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), .theirs = {}};
  if (!listening.is_open() || !pair.ours.is_open()) return FailErrno("socket", "TCP");
  Endpoint address;
  address.size = sizeof(sockaddr_in);
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected = ::bind(listening.get(), address.get(), address.size) == 0 &&
                         ::listen(listening.get(), 1) == 0 &&
                         ::getsockname(listening.get(), address.get(), &address.size) == 0 &&
                         ::connect(pair.ours.get(), address.get(), address.size) == 0;
  if (connected) pair.theirs = OwnedFd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!pair.theirs.is_open()) return FailErrno("connect", "the loopback");
  return pair;
}

}  // namespace

Result<uid_t> UserOfTcpPeer(int socket) {
  TRY(const Endpoint ours, EndOf(socket, "getsockname", ::getsockname));
  TRY(const Endpoint theirs, EndOf(socket, "getpeername", ::getpeername));
  return Ask(QueryFor(theirs, ours));
}

Result<> TryUserOfTcpPeer() {
  TRY(const SocketPair pair, ConnectToSelf());
  TRY(const uid_t user, UserOfTcpPeer(pair.theirs.get()));
  if (user == ::geteuid()) return {};
  return Fail(ErrorKind::kSystem, fmt::format("sock_diag: a socket of this process belongs to user {}", user));
}

}  // namespace holdfast::sys
