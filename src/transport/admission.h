// The conditions that a peer must meet before a listener lets it open a WebSocket.
#pragma once

#include <functional>
#include <string>

namespace holdfast::transport {

struct Admission {
  // The secret that is the path of every URL that opens a WebSocket. If it is empty, the URL must have no path.
  std::string secret = {};

  // This function decides about the socket of each peer that wants to open a WebSocket. If it is absent, every peer
  // may.
  std::function<bool(int socket)> admits = {};
};

}  // namespace holdfast::transport
