// An Authorizer has the conditions that a peer must meet before it may use a route of a listener.
#pragma once

#include <functional>
#include <string>

namespace holdfast::transport {

struct Authorizer {
  // The secret that is the beginning of the path of every request. If it is empty, no request needs a secret.
  std::string secret = {};

  // This function decides about the socket of each peer that wants to open a WebSocket. If it is absent, every peer
  // may.
  std::function<bool(int socket)> admits = {};
};

}  // namespace holdfast::transport
