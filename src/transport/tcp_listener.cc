#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "transport/acceptor.h"
#include "transport/listener.h"
#include "transport/reception.h"

namespace holdfast::transport {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address AddressOf(const WebSocketUrl& url) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (::inet_pton(AF_INET, url.ip.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(url.port);
    address.size = sizeof(sockaddr_in);
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  ::inet_pton(AF_INET6, url.ip.c_str(), &v6->sin6_addr);
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(url.port);
  address.size = sizeof(sockaddr_in6);
  return address;
}

// Returns a text such as "127.0.0.1:80" or "[::1]:80".
std::string TextOf(const Address& address) {
  char ip[INET6_ADDRSTRLEN] = "";
  if (address.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, ip, sizeof(ip));
    return fmt::format("{}:{}", ip, ntohs(v4->sin_port));
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  ::inet_ntop(AF_INET6, &v6->sin6_addr, ip, sizeof(ip));
  return fmt::format("[{}]:{}", ip, ntohs(v6->sin6_port));
}

uint16_t PortOf(const Address& address) {
  const bool is_v4 = address.storage.ss_family == AF_INET;
  return ntohs(is_v4 ? reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port
                     : reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
}

std::string PeerOf(int fd) {
  Address address;
  if (::getpeername(fd, address.get(), &address.size) < 0) return "unknown";  // the peer has hung up already
  return TextOf(address);
}

// Nagle's algorithm could only delay messages, because they are gathered into one write before they reach the socket.
void SetNoDelay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Result<OwnedFd> Bind(const Address& address) {
  OwnedFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.is_open()) return FailErrno("socket", TextOf(address));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd.get(), address.get(), address.size) < 0) return FailErrno("bind", TextOf(address));
  if (::listen(fd.get(), SOMAXCONN) < 0) return FailErrno("listen", TextOf(address));
  return fd;
}

class TcpListener final : public Listener {
 public:
  TcpListener(loop::EventLoop& loop, OwnedFd fd, const Address& bound, const Limits& limits, Admission admission,
              OnConnection on_connection)
      : url_("ws://" + TextOf(bound) + (admission.secret.empty() ? "" : "/" + admission.secret)),
        port_(PortOf(bound)),
        reception_(std::in_place, loop, Reception::Language::kHttp, limits, std::move(admission),
                   std::move(on_connection)),
        acceptor_(std::in_place, loop, std::move(fd), [this](OwnedFd socket) { Accept(std::move(socket)); }) {}

  std::string url() const override { return url_; }
  uint16_t port() const override { return port_; }

  void Stop() override {
    acceptor_.reset();
    reception_.reset();
  }

 private:
  void Accept(OwnedFd socket) {
    SetNoDelay(socket.get());
    std::string peer = PeerOf(socket.get());
    reception_->Welcome(std::move(socket), std::move(peer));
  }

  const std::string url_;
  const uint16_t port_;
  std::optional<Reception> reception_;
  std::optional<Acceptor> acceptor_;
};

}  // namespace

Result<std::unique_ptr<Listener>> ListenWebSocket(loop::EventLoop& loop, const WebSocketUrl& url, const Limits& limits,
                                                  Admission admission, OnConnection on_connection) {
  TRY(OwnedFd fd, Bind(AddressOf(url)));
  Address bound;
  if (::getsockname(fd.get(), bound.get(), &bound.size) < 0) return FailErrno("getsockname", url.ip);
  return std::make_unique<TcpListener>(loop, std::move(fd), bound, limits, std::move(admission),
                                       std::move(on_connection));
}

}  // namespace holdfast::transport
