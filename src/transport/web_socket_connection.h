// A WebSocket connection from its upgrade to its end, in the role of the server or of the client. Beast reads the
// protocol and answers control frames. Data frames are written past Beast (see gathering_stream.h), because they are
// the hot path.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "loop/event.h"
#include "loop/task.h"
#include "transport/byte_stream.h"
#include "transport/connection_slots.h"
#include "transport/listener.h"
#include "transport/refusal.h"

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

// A stream to a server, which has yet to be asked for an upgrade.
struct ServerStream {
  std::unique_ptr<ByteStream> stream;
  std::string peer;    // the name of the server in messages
  std::string host;    // the Host header
  std::string target;  // the path of the URL, and its query
  std::vector<std::pair<std::string, std::string>> headers = {};
  OnRefused on_refused = {};  // called with an answer that is not an upgrade
};

// Asks the server for an upgrade, and returns the connection when the server has agreed. The task ends with kTimeout
// when the deadline has passed. If the task is destroyed first, the stream is closed.
loop::Task<Result<std::shared_ptr<rpc::Transport>>> RequestWebSocket(loop::EventLoop& loop, ServerStream server,
                                                                     const Limits& limits, loop::Deadline& deadline);

}  // namespace holdfast::transport
