// One WebSocket peer, from its upgrade to its end. Beast reads and answers the protocol; data frames are written past
// it (see gathering_stream.h), because they are the hot path.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "transport/connection_slots.h"
#include "transport/listener.h"

namespace holdfast::transport {

// A socket whose HTTP request was found to be a proper upgrade.
struct UpgradedSocket {
  OwnedFd fd;  // non-blocking
  std::string peer;
  std::string key;          // the Sec-WebSocket-Key
  std::string early_input;  // what came behind the request
  Slot slot;                // given back when the connection ends
};

// Answers the upgrade and hands the connection over. It lives until it is closed, and then as long as it is held.
void AcceptWebSocket(loop::EventLoop& loop, UpgradedSocket socket, const Limits& limits, OnConnection on_connection);

}  // namespace holdfast::transport
