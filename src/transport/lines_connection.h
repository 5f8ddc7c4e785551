// One peer that speaks a JSON message per line, over a socket of its own or over borrowed descriptors (see ServeLines
// in listener.h).
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
  std::string early_input;  // what was read to find out that it speaks lines
  Slot slot;                // given back when the connection ends
};

std::shared_ptr<rpc::Transport> ServeLinesSocket(loop::EventLoop& loop, LinesSocket socket, const Limits& limits);

}  // namespace holdfast::transport
