// A WebSocket connection from its upgrade to its end. Beast reads the protocol and answers control frames. Data frames
// are written past Beast (see gathering_stream.h), because they are the hot path.
#pragma once

#include <memory>
#include <string>

#include "transport/byte_stream.h"
#include "transport/connection_slots.h"
#include "transport/listener.h"

namespace holdfast::transport {

// A stream whose HTTP request is a valid upgrade.
struct UpgradedSocket {
  std::unique_ptr<ByteStream> stream;
  std::string peer;
  std::string key;          // the Sec-WebSocket-Key
  std::string early_input;  // bytes that arrived after the request
  Slot slot;                // given back when the connection ends
};

// Answers the upgrade and passes the connection on. The connection lives until it is closed, and after that as long as
// it is referenced.
void AcceptWebSocket(loop::EventLoop& loop, UpgradedSocket socket, const Limits& limits, OnConnection on_connection);

}  // namespace holdfast::transport
