#include "sandbox/proxy/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace holdfast::sandbox {
namespace {

using Progress = ProxyConnection::Progress;

constexpr int kBlocksPerTurn = 4;

std::span<const int> FamiliesOf(LoopbackHost host) {
  static constexpr std::array kFamilies = {AF_INET, AF_INET6};
  const std::span<const int> all = kFamilies;
  if (host == LoopbackHost::kIpv4) return all.first(1);
  return host == LoopbackHost::kIpv6 ? all.last(1) : all;
}

// Makes the kernel send small packets as they come.
void SendAtOnce(int fd) {
  const int yes = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // a failure only costs time
}

int ConnectIpv4(int fd, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

int ConnectIpv6(int fd, uint16_t port) {
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_loopback;
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// Returns a socket that is connected or connecting, or a closed one when connecting failed at once.
OwnedFd Dial(int family, uint16_t port) {
  OwnedFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return fd;
  const int result = family == AF_INET ? ConnectIpv4(fd.get(), port) : ConnectIpv6(fd.get(), port);
  if (result < 0 && errno != EINPROGRESS) fd.Reset();
  return fd;
}

enum class Attempt { kPending, kSucceeded, kFailed };

Attempt StateOf(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error != 0) return Attempt::kFailed;
  sockaddr_storage peer;
  size = sizeof peer;
  const bool has_peer = ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
  return has_peer ? Attempt::kSucceeded : Attempt::kPending;
}

// Returns the number of bytes or -errno. Tries again after a signal.
ssize_t Receive(int fd, std::span<char> block) {
  for (;;) {
    const ssize_t n = ::recv(fd, block.data(), block.size(), 0);
    if (n >= 0) return n;
    if (errno != EINTR) return -errno;
  }
}

void Reset(OwnedFd& fd) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  if (fd.is_open()) (void)::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  fd.Reset();
}

}  // namespace

ProxyConnection::ProxyConnection(OwnedFd client, const ProxyEndpoint& proxy, int epoll, uint64_t id)
    : client_(std::move(client)), families_left_(FamiliesOf(proxy.host)), port_(proxy.port), epoll_(epoll), id_(id) {
  SendAtOnce(client_.get());
  if (!Watch(client_.get())) families_left_ = {};  // without an address to try, the first Advance ends the connection
}

bool ProxyConnection::Watch(int fd) const {
  epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.u64 = id_}};
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

Progress ProxyConnection::Abort() {
  Reset(client_);
  Reset(proxy_);
  return Progress::kOver;
}

Progress ProxyConnection::Connect() {
  for (;;) {
    const Attempt attempt = proxy_.is_open() ? StateOf(proxy_.get()) : Attempt::kFailed;
    if (attempt == Attempt::kPending) return Progress::kWaiting;
    if (attempt == Attempt::kSucceeded) break;
    if (families_left_.empty()) return Abort();
    proxy_ = Dial(families_left_.front(), port_);
    families_left_ = families_left_.subspan(1);
    if (proxy_.is_open() && !Watch(proxy_.get())) proxy_.Reset();
  }
  SendAtOnce(proxy_.get());
  connected_ = true;
  return Progress::kUnfinished;
}

Progress ProxyConnection::Advance(std::span<char> block) {
  if (!connected_) {
    const Progress progress = Connect();
    if (!connected_) return progress;
  }
  const Progress up = Copy(upload_, client_.get(), proxy_.get(), block);
  if (up == Progress::kOver) return Abort();
  const Progress down = Copy(download_, proxy_.get(), client_.get(), block);
  if (down == Progress::kOver) return Abort();
  if (upload_.over && download_.over) return broken_ ? Abort() : Progress::kOver;
  return up == Progress::kUnfinished || down == Progress::kUnfinished ? Progress::kUnfinished : Progress::kWaiting;
}

// Passes bytes on in one direction. kOver means that the connection as a whole is broken.
Progress ProxyConnection::Copy(Direction& direction, int from, int to, std::span<char> block) {
  for (int turn = 0; turn < kBlocksPerTurn && !direction.over; ++turn) {
    if (!direction.unsent.empty() && !Send(direction, to, std::exchange(direction.unsent, {}))) {
      return Progress::kWaiting;
    }
    if (direction.over) break;
    const ssize_t n = Receive(from, block);
    if (n == -EAGAIN) return Progress::kWaiting;
    // The kernel reports an error of a socket once. After a send has failed with it, a read sees an end of file
    // instead.
    if (n < 0 || (n == 0 && broken_)) return Progress::kOver;
    if (n == 0) {
      direction.over = true;
      (void)::shutdown(to, SHUT_WR);  // fails when the other side is gone, which the other direction notices
    } else if (!Send(direction, to, {block.data(), static_cast<size_t>(n)})) {
      return Progress::kWaiting;
    }
  }
  return direction.over ? Progress::kWaiting : Progress::kUnfinished;
}

// Returns false when some of the bytes have to wait. A side that accepts no more bytes may have sent some before; the
// other direction still passes these on.
bool ProxyConnection::Send(Direction& direction, int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      direction.unsent = bytes;
      return false;
    } else if (errno != EINTR) {
      direction.over = broken_ = true;
      return true;
    }
  }
  return true;
}

}  // namespace holdfast::sandbox
