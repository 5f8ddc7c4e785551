// A lines connection exchanges one JSON message per line with its peer, over a socket or over two pipes. ServeLines in
// listener.h makes one over borrowed descriptors.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "transport/connection_slots.h"
#include "transport/listener.h"
#include "transport/plain_stream.h"

namespace holdfast::transport {

// The two directions of a connection. Those of a socket are one stream.
struct LinesStreams {
  PlainStream in;
  std::optional<PlainStream> separate_out = {};  // absent if `in` is written to
  std::string peer;
  std::string early_input = {};  // bytes that were read to find out that the peer speaks lines
  Slot slot = {};                // given back when the connection ends
};

std::shared_ptr<rpc::Transport> ExchangeLines(loop::EventLoop& loop, LinesStreams streams, const Limits& limits);

}  // namespace holdfast::transport
