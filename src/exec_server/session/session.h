// A session is one client's conversation. It owns the client's processes and knows the connection that it is attached
// to, if any. It survives the connection for a while. When it has ended, nothing that it started is alive.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "exec_server/link/client_link.h"
#include "exec_server/processes/session_processes.h"
#include "exec_server/session/attachment.h"
#include "exec_server/session/session_resources.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

class Session {
 public:
  Session(SessionResources& resources, std::string id);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& id() const { return id_; }

  void Attach(rpc::Transport& transport, const ClientTraits& client);
  // Ends the attachment, and drops the reads, the waits for an exit and the writes of the client that still wait. The
  // processes go on, and their output is kept.
  void Detach();
  bool attached() const { return attachment_.has_value(); }

  // The parts of the session that requests work on. A request is only handled while there is an attachment.
  SessionProcesses& processes() { return *processes_; }
  FileSession& files() { return attachment_->files(); }
  HttpExchanges& exchanges() { return attachment_->exchanges(); }

  // The transport has room again.
  void OnDrained();

  bool idle() const { return processes_->idle(); }  // no process that it started is alive

  // Ends every process and every file helper of the session. Processes get SIGTERM and `grace` before they are killed,
  // unless `grace` is zero. `done` runs when nothing is alive.
  void End(std::chrono::milliseconds grace, loop::Callback done);

 private:
  SessionResources& resources_;
  const std::string id_;
  ClientLink link_;
  const std::shared_ptr<SessionProcesses> processes_;
  std::optional<Attachment> attachment_;
};

}  // namespace holdfast::exec_server
