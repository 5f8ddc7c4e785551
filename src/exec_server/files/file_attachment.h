// A FileAttachment is what the file requests of one connection share: their order, the open files and the watch. It
// ends with the connection.
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

// The watch of a connection. A connection has one watch at a time, and the next one replaces it.
struct WatchSlot {
  std::optional<uint64_t> last_id;  // the next id must be larger
  loop::Permit active;              // the watch ends when the permit is destroyed
};

class FileAttachment {
 public:
  FileAttachment(loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client,
                 std::string session_id);
  FileAttachment(const FileAttachment&) = delete;
  FileAttachment& operator=(const FileAttachment&) = delete;

  const std::string& session_id() const { return session_id_; }
  rpc::Transport& transport() { return transport_; }
  const ClientTraits& client() const { return client_; }
  PathOrder& order() { return order_; }
  FileHandles& handles() { return handles_; }
  WatchSlot& watch() { return watch_; }

  // Runs the task of a request. The task ends with the connection.
  void Start(loop::Task<> request) { requests_.Start(std::move(request)); }

  // While the client does not read its answers, no further requests get their turn. OnDrained is called when the
  // transport has room again.
  void OnCongested() { order_.Hold(); }
  void OnDrained() { order_.Release(); }

  // The session is ending: requests that need a file helper are refused, because no further one may be started.
  void End() { ending_ = true; }
  bool ending() const { return ending_; }

 private:
  const std::string session_id_;
  rpc::Transport& transport_;
  const ClientTraits client_;
  FileHandles handles_;
  PathOrder order_;
  WatchSlot watch_;
  bool ending_ = false;
  loop::Scope requests_;
};

}  // namespace holdfast::exec_server
