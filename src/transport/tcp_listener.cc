#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "transport/acceptor.h"
#include "transport/http_front.h"
#include "transport/listener.h"
#include "transport/peer_watch.h"
#include "transport/socket_address.h"

namespace holdfast::transport {
namespace {

std::string PeerOf(int fd) {
  SocketAddress address;
  if (::getpeername(fd, address.get(), &address.size) < 0) return "unknown";  // the peer has hung up already
  return TextOf(address);
}

Result<OwnedFd> Bind(const SocketAddress& address) {
  OwnedFd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.is_open()) return FailErrno("socket", TextOf(address));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd.get(), address.get(), address.size) < 0) return FailErrno("bind", TextOf(address));
  if (::listen(fd.get(), SOMAXCONN) < 0) return FailErrno("listen", TextOf(address));
  return fd;
}

std::string UrlOf(const SocketAddress& bound, const HttpFrontOptions& options) {
  const std::string& secret = options.authorizer.secret;
  return fmt::format("{}://{}{}{}", options.tls ? "wss" : "ws", TextOf(bound), secret.empty() ? "" : "/", secret);
}

class TcpListener final : public Listener {
 public:
  TcpListener(loop::EventLoop& loop, OwnedFd fd, const SocketAddress& bound, const Limits& limits,
              HttpFrontOptions options, OnConnection on_connection)
      : url_(UrlOf(bound, options)),
        port_(PortOf(bound)),
        peer_timeout_(limits.peer_timeout),
        front_(std::in_place, loop, HttpFront::Language::kHttp, limits, std::move(options), std::move(on_connection)),
        acceptor_(std::in_place, loop, std::move(fd), [this](OwnedFd socket) { Accept(std::move(socket)); }) {}

  std::string url() const override { return url_; }
  uint16_t port() const override { return port_; }

  void Stop() override {
    acceptor_.reset();
    front_.reset();
  }

 private:
  void Accept(OwnedFd socket) {
    SetNoDelay(socket.get());
    SetKeepAlive(socket.get(), peer_timeout_);
    std::string peer = PeerOf(socket.get());
    front_->Serve(std::move(socket), std::move(peer));
  }

  const std::string url_;
  const uint16_t port_;
  const std::chrono::milliseconds peer_timeout_;
  std::optional<HttpFront> front_;
  std::optional<Acceptor> acceptor_;
};

}  // namespace

Result<std::unique_ptr<Listener>> ListenWebSocket(loop::EventLoop& loop, const WebSocketUrl& url, const Limits& limits,
                                                  HttpFrontOptions options, OnConnection on_connection) {
  const auto address = TcpAddress(url.ip, url.port);
  if (!address) return Fail(ErrorKind::kInvalidParams, fmt::format("listen: {} is not an IP address", url.ip));
  TRY(OwnedFd fd, Bind(*address));
  SocketAddress bound;
  if (::getsockname(fd.get(), bound.get(), &bound.size) < 0) return FailErrno("getsockname", url.ip);
  return std::make_unique<TcpListener>(loop, std::move(fd), bound, limits, std::move(options),
                                       std::move(on_connection));
}

}  // namespace holdfast::transport
