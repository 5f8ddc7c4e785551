// Accepts connections and hands each over as an rpc::Transport.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "rpc/transport.h"
#include "transport/admission.h"
#include "transport/listen_url.h"

namespace holdfast::transport {

struct Limits {
  size_t max_connections = 1024;                    // further ones get HTTP 503 (or are closed, on lines)
  size_t max_frame_bytes = 16u << 20;               // inbound WebSocket frame
  size_t max_message_bytes = 64u << 20;             // inbound message or line
  size_t outbound_frame_bytes = 4u << 20;           // longer messages leave fragmented
  size_t high_water_bytes = 256u << 10;             // congested() from here ...
  size_t low_water_bytes = 64u << 10;               // ... until the queue is below this
  std::chrono::milliseconds head_timeout{10'000};   // for the whole head of an HTTP request
  std::chrono::milliseconds ping_interval{30'000};  // 0: no pings
  std::chrono::milliseconds close_timeout{2'000};
  std::weak_ptr<loop::ByteBudget> budget;  // which long messages draw from while they arrive
};

using OnConnection = std::function<void(std::shared_ptr<rpc::Transport>)>;

class Listener {
 public:
  virtual ~Listener() = default;

  // The address in --listen form, with the real port and the secret of its admission.
  virtual std::string url() const = 0;

  // The port it listens on; 0 for a unix socket.
  virtual uint16_t port() const = 0;

  // Stops accepting. Connections already handed over live on.
  virtual void Stop() = 0;
};

// WebSocket on TCP (with GET /readyz and /healthz).
Result<std::unique_ptr<Listener>> ListenWebSocket(loop::EventLoop& loop, const WebSocketUrl& url, const Limits& limits,
                                                  Admission admission, OnConnection on_connection);

// A unix socket for processes of our uid or root that are in no pid namespace below ours, as sandboxes have them. The
// first byte decides what a peer speaks: a letter is an HTTP request that upgrades to WebSocket, anything else is one
// JSON message per line.
Result<std::unique_ptr<Listener>> ListenUnix(loop::EventLoop& loop, const UnixUrl& url, const Limits& limits,
                                             OnConnection on_connection);

// One JSON message per line on a pair of descriptors, which are borrowed and made non-blocking.
std::shared_ptr<rpc::Transport> ServeLines(loop::EventLoop& loop, int in_fd, int out_fd, const Limits& limits);

}  // namespace holdfast::transport
