// A lines connection exchanges one JSON message per line with its peer, over a socket that it owns or over borrowed
// descriptors (see ServeLines in listener.h).
#pragma once

#include <memory>
#include <string>

#include "base/owned_fd.h"
#include "transport/connection_slots.h"
#include "transport/listener.h"

namespace holdfast::transport {

struct LinesSocket {
  OwnedFd fd;  // non-blocking
  std::string peer;
  std::string early_input;  // bytes that were read to find out that the peer speaks lines
  Slot slot;                // given back when the connection ends
};

std::shared_ptr<rpc::Transport> ServeLinesSocket(loop::EventLoop& loop, LinesSocket socket, const Limits& limits);

}  // namespace holdfast::transport
