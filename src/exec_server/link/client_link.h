// The way from a session to its client: the connection the session has at the moment, if any, and what is known of the
// client at its other end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "rpc/transport.h"

namespace holdfast::exec_server {

// Whether a client is told of the start of its processes by the notifications process/started and process/failed.
enum class Lifecycle { kSilent, kAnnounced };

struct ClientTraits {
  Lifecycle lifecycle = Lifecycle::kSilent;
  size_t max_message_bytes = SIZE_MAX;  // a longer message makes the client drop the connection
};

class ClientLink {
 public:
  ClientLink() = default;  // nobody is connected
  ClientLink(rpc::Transport& transport, const ClientTraits& client) : transport_(&transport), client_(client) {}

  bool is_open() const { return transport_ != nullptr; }
  // Without a connection nothing has to wait: output is only stored.
  bool is_congested() const { return transport_ != nullptr && transport_->congested(); }
  const ClientTraits& client() const { return client_; }

  // A message to nobody is dropped.
  void Send(std::string message) const {
    if (transport_ != nullptr) transport_->Send(std::move(message));
  }

 private:
  rpc::Transport* transport_ = nullptr;
  ClientTraits client_;
};

}  // namespace holdfast::exec_server
