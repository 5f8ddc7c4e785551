// The answer by which a server refuses a WebSocket.
#pragma once

#include <functional>
#include <string>

namespace holdfast::transport {

struct Refusal {
  unsigned status = 0;    // of HTTP
  std::string body = {};  // its beginning, as the server has sent it; not fit for a terminal
};

using OnRefused = std::function<void(const Refusal&)>;

}  // namespace holdfast::transport
