// One client's conversation: its processes, and the connection it is attached to, if any. It survives the connection
// for a while; when it ends, nothing it started stays alive.
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
  // Requests that wait are dropped, with what belongs to the connection; processes live on and their output is kept.
  void Detach();
  bool attached() const { return attachment_.has_value(); }

  // What a request is about. There is an attachment whenever one is handled.
  SessionProcesses& processes() { return *processes_; }
  FileSession& files() { return attachment_->files(); }
  HttpExchanges& exchanges() { return attachment_->exchanges(); }

  // The transport is full of answers that the client does not take; and has room again.
  void OnCongested();
  void OnDrained();

  bool idle() const { return processes_->idle(); }  // nothing it started is alive

  // Ends every process, by SIGTERM and `grace` first unless that is zero; `done` runs when nothing is alive.
  void End(std::chrono::milliseconds grace, loop::Callback done);

 private:
  SessionResources& resources_;
  const std::string id_;
  ClientLink link_;
  const std::shared_ptr<SessionProcesses> processes_;
  std::optional<Attachment> attachment_;
};

}  // namespace holdfast::exec_server
