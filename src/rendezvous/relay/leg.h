// A Leg is a connection of a node as a pipe: the WebSocket connection of one client or one executor, or a link to
// another node. A WebSocket that waits to be joined to another pipe answers pings itself, sends some, and takes the end
// of the connection or any other frame as its end. Once it has been started, all frames pass through, also pings and
// the closing handshake. A link carries the frames as they come out of a pipe, and does not look at them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "loop/event_loop.h"
#include "rendezvous/relay/pipe.h"
#include "transport/web_socket_connection.h"

namespace holdfast::rendezvous {

struct LegLimits {
  size_t max_frame_bytes = 16u << 20;
  size_t high_water_bytes = 256u << 10;
  size_t low_water_bytes = 64u << 10;
  std::chrono::milliseconds ping_interval{15'000};  // while it waits; a ping without an answer ends the leg
  std::chrono::milliseconds close_timeout{2'000};
};

class Leg : public Pipe {
 public:
  // Answers the upgrade. `on_ended` is called if the connection ends before Start. Nothing is read before the next turn
  // of the loop, so a leg that is started at once passes everything on. A leg that is dropped without Close is cut.
  static std::shared_ptr<Leg> Accept(loop::EventLoop& loop, transport::UpgradedSocket socket, const LegLimits& limits,
                                     std::function<void()> on_ended);

  // The connection has been made by the nodes, and its upgrade is over. It is not read before Start.
  static std::shared_ptr<Leg> Link(loop::EventLoop& loop, transport::UpgradedSocket socket, const LegLimits& limits);

  // Ends the leg in the next turn of the loop, as if the peer had gone.
  virtual void Cut() = 0;
};

}  // namespace holdfast::rendezvous
