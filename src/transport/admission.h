// What a listener asks of a peer before it may talk to the server.
#pragma once

#include <functional>
#include <string>

namespace holdfast::transport {

struct Admission {
  // A WebSocket is opened only by a URL whose path is this word; empty: by one without a path.
  std::string secret = {};

  // Asked about the socket of each peer that wants to open a WebSocket; absent: every peer may.
  std::function<bool(int socket)> admits = {};
};

}  // namespace holdfast::transport
