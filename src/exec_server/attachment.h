// One connection's hold on its session: where messages go, and what the client holds that dies with the connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "exec_server/file_handles.h"
#include "exec_server/http_exchanges.h"
#include "exec_server/path_order.h"
#include "loop/worker_pool.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

enum class Lifecycle { kSilent, kAnnounced };  // of process/started and process/failed

// What is known of a client.
struct ClientTraits {
  Lifecycle lifecycle = Lifecycle::kSilent;
  size_t max_message_bytes = SIZE_MAX;  // a longer message would cost it the connection
};

// The one watch of a connection: a new one takes the place of the last.
struct WatchSlot {
  std::optional<uint64_t> last_id;  // ids only grow
  std::shared_ptr<void> active;     // ends the watch when it goes
};

class Attachment {
 public:
  Attachment(loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client);
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  rpc::Transport& transport() { return transport_; }
  const ClientTraits& client() const { return client_; }
  PathOrder& order() { return order_; }
  FileHandles& handles() { return handles_; }
  HttpExchanges& exchanges() { return exchanges_; }
  WatchSlot& watch() { return watch_; }

  // A file request was answered. A client that does not take its answers gets no further ones made.
  void OnFileAnswer();
  // The transport has room again.
  void OnDrained();

 private:
  rpc::Transport& transport_;
  const ClientTraits client_;
  FileHandles handles_;  // outlives the requests that wait in order_, which share its files
  PathOrder order_;
  HttpExchanges exchanges_;
  WatchSlot watch_;
};

}  // namespace holdfast::exec_server
