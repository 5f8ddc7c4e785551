// What the file requests of one connection share: their order, the open files, the watch. It ends with the connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "exec_server/files/file_handles.h"
#include "exec_server/files/path_order.h"
#include "exec_server/link/client_link.h"
#include "loop/permit.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

// The one watch of a connection: a new one takes the place of the last.
struct WatchSlot {
  std::optional<uint64_t> last_id;  // ids only grow
  loop::Permit active;              // ends the watch when it goes
};

class FileSession {
 public:
  FileSession(loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client, std::string session_id);
  FileSession(const FileSession&) = delete;
  FileSession& operator=(const FileSession&) = delete;

  const std::string& session_id() const { return session_id_; }
  rpc::Transport& transport() { return transport_; }
  const ClientTraits& client() const { return client_; }
  PathOrder& order() { return order_; }
  FileHandles& handles() { return handles_; }
  WatchSlot& watch() { return watch_; }

  // Runs the task of a request. It ends with the connection.
  void Start(loop::Task<> request) { requests_.Start(std::move(request)); }

  // A client that does not take its answers gets no further ones made, until the transport has room again.
  void OnCongested() { order_.Hold(); }
  void OnDrained() { order_.Release(); }

 private:
  const std::string session_id_;
  rpc::Transport& transport_;
  const ClientTraits client_;
  FileHandles handles_;
  PathOrder order_;
  WatchSlot watch_;
  loop::Scope requests_;
};

}  // namespace holdfast::exec_server
