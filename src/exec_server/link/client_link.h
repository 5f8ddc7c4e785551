// A session reaches its client through a link: the connection that the session has at the moment, if any, and the
// traits of the client at its other end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "rpc/peer.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

// The server sends the notifications process/started and process/failed only to a client that is kAnnounced.
enum class Lifecycle { kSilent, kAnnounced };

struct ClientTraits {
  std::shared_ptr<const std::string> name = std::make_shared<const std::string>();  // one copy for all parts
  Lifecycle lifecycle = Lifecycle::kSilent;
  size_t max_message_bytes = SIZE_MAX;  // a longer message makes the client drop the connection
};

class ClientLink {
 public:
  ClientLink() = default;  // a link without a connection
  ClientLink(rpc::Transport& transport, const ClientTraits& client) : transport_(&transport), client_(client) {}

  bool is_open() const { return transport_ != nullptr; }

  // The peer by which the server calls the client. It is null until the client has finished the handshake.
  std::shared_ptr<rpc::Peer> peer() const { return peer_.lock(); }
  void SetPeer(std::weak_ptr<rpc::Peer> peer) { peer_ = std::move(peer); }

  // Returns whether the client reads too slowly. A link without a connection is never congested: output is only stored.
  bool is_congested() const { return transport_ != nullptr && transport_->congested(); }
  const ClientTraits& client() const { return client_; }

  // Drops the message if there is no connection.
  void Send(std::string message) const {
    if (transport_ != nullptr) transport_->Send(std::move(message));
  }
  void Close() const {
    if (transport_ != nullptr) transport_->Close();
  }

 private:
  rpc::Transport* transport_ = nullptr;
  ClientTraits client_;
  std::weak_ptr<rpc::Peer> peer_;
};

}  // namespace holdfast::exec_server
