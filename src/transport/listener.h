// A Listener accepts connections and passes each of them on as an rpc::Transport.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "rpc/transport.h"
#include "transport/authorizer.h"
#include "transport/http_routes.h"
#include "transport/listen_url.h"
#include "transport/peer_watch.h"
#include "transport/tls_context.h"

namespace holdfast::transport {

class HttpCall;

struct Limits {
  size_t max_connections = 1024;                    // further connections get HTTP 503 (on lines they are closed)
  size_t max_frame_bytes = 16u << 20;               // inbound WebSocket frame
  size_t max_message_bytes = 64u << 20;             // inbound message or line
  size_t outbound_frame_bytes = 4u << 20;           // longer messages are sent in fragments
  size_t high_water_bytes = 256u << 10;             // congested() is true from here ...
  size_t low_water_bytes = 64u << 10;               // ... until the queue is below this
  std::chrono::milliseconds head_timeout{10'000};   // for a whole HTTP request, and for sending the answer to a call
  std::chrono::milliseconds ping_interval{30'000};  // 0 means no pings
  std::chrono::milliseconds close_timeout{2'000};
  std::chrono::milliseconds peer_timeout = kPeerTimeout;  // a TCP peer that acknowledges nothing for so long is gone
  std::weak_ptr<loop::ByteBudget> budget = {};            // long messages draw from it while they arrive
};

using OnConnection = std::function<void(std::shared_ptr<rpc::Transport>)>;
using OnCall = std::function<void(std::unique_ptr<HttpCall>)>;

struct HttpFrontOptions {
  HttpRoutes routes;
  Authorizer authorizer = {};
  std::optional<TlsContext> tls = {};  // if it is set, the listener speaks TLS only
  // Gets the requests whose path is none of the routes. If it is absent, they are answered with 404.
  OnCall on_call = {};
};

class Listener {
 public:
  virtual ~Listener() = default;

  // Returns the address in the form of --listen, with the real port and the secret of the authorizer.
  virtual std::string url() const = 0;

  // Returns the port that the listener is bound to, and 0 for a unix socket.
  virtual uint16_t port() const = 0;

  // Stops accepting. Connections that were passed on before stay open.
  virtual void Stop() = 0;
};

// Listens on TCP, and serves the routes of `options`.
Result<std::unique_ptr<Listener>> ListenWebSocket(loop::EventLoop& loop, const WebSocketUrl& url, const Limits& limits,
                                                  HttpFrontOptions options, OnConnection on_connection);

// Listens on a unix socket. It serves processes of the server's user or of root, unless they are in a pid namespace
// below the server's, as sandboxed commands are. The first byte of a peer decides its protocol: a letter begins an HTTP
// request for one of the routes, and anything else begins one JSON message per line.
Result<std::unique_ptr<Listener>> ListenUnix(loop::EventLoop& loop, const UnixUrl& url, const Limits& limits,
                                             HttpRoutes routes, OnConnection on_connection);

// Exchanges one JSON message per line over two descriptors, which are borrowed and made non-blocking.
std::shared_ptr<rpc::Transport> ServeLines(loop::EventLoop& loop, int in_fd, int out_fd, const Limits& limits);

}  // namespace holdfast::transport
