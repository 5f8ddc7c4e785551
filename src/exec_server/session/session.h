// A session is a conversation with clients. It owns their processes and knows the connections that are attached to it.
// A private session is one client's conversation: it has one connection at most, and survives it for a while. A shared
// session has a name and any number of connections: one of them drives it, the others observe. When a session has
// ended, nothing that it started is alive.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec_server/link/client_link.h"
#include "exec_server/processes/session_processes.h"
#include "exec_server/session/attachment.h"
#include "exec_server/session/roles.h"
#include "exec_server/session/session_resources.h"
#include "loop/event.h"
#include "loop/task.h"
#include "rpc/peer.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

class Session {
 public:
  // The time that a session outlives its last connection; without a value it lives until it is ended.
  using DetachedTtl = std::optional<std::chrono::milliseconds>;

  struct Sharing {
    std::string name;
    DetachedTtl detached_ttl;
  };

  // Without `sharing` the session is private.
  Session(SessionResources& resources, std::string id, std::optional<Sharing> sharing);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& id() const { return id_; }
  bool shared() const { return sharing_.has_value(); }
  std::optional<std::string> name() const;
  std::chrono::system_clock::time_point created_at() const { return created_at_; }

  DetachedTtl detached_ttl() const;
  // Changes how long a shared session outlives its last connection.
  void Keep(DetachedTtl ttl) { sharing_->detached_ttl = ttl; }

  // Attaches a connection. If it drives the session, the connection that did so before observes from here on.
  Attachment& Attach(rpc::Transport& transport, const ClientTraits& client,
                     std::optional<wire::SessionRole> wanted = std::nullopt);
  // Ends the attachment and the requests of its client that wait. Its writes that wait are dropped. If the client drove
  // the session, the one that it replaced drives again. The processes go on, and their output is kept.
  void Detach(Attachment& attachment);
  bool attached() const { return !attachments_.empty(); }
  size_t connections() const { return attachments_.size(); }
  const Attachment* driver() const;

  // Asks the client of a private session for a sign of life. A connection without one is ended: when the task returns
  // kSilent, the connection that was asked is no longer attached.
  loop::Task<rpc::Presence> ProbeClient(std::chrono::milliseconds patience);

  // The client of the attachment has finished the handshake, and can be called through `peer` from here on.
  void OnReady(Attachment& attachment, std::weak_ptr<rpc::Peer> peer);

  // Makes an attachment that observes the session its driver.
  void TakeOver(Attachment& attachment);

  // The transport of the attachment has room again.
  void OnDrained(Attachment& attachment);

  SessionProcesses& processes() { return *processes_; }
  const SessionProcesses& processes() const { return *processes_; }
  bool idle() const { return processes_->idle(); }  // no process that it started is alive

  // Ends every process and every file helper of the session. Processes get SIGTERM and `grace` before they are killed,
  // unless `grace` is zero. `done` runs when nothing is alive.
  void End(wire::EndCause cause, std::chrono::milliseconds grace, loop::Callback done);
  // Tells the attached clients that the session has ended, and closes their connections.
  void Dismiss();

 private:
  Attachment* Find(Roles::Member member) const;
  void Drive(Attachment& attachment);
  void Observe(Attachment& attachment);
  void Demote(Attachment& attachment);
  loop::Task<> DriveAgain(Attachment& attachment);
  void StopObserving(Attachment& attachment);

  SessionResources& resources_;
  const std::string id_;
  std::optional<Sharing> sharing_;
  const std::chrono::system_clock::time_point created_at_ = std::chrono::system_clock::now();
  ClientLink link_;  // to the driver
  const std::shared_ptr<SessionProcesses> processes_;
  Roles roles_;
  bool ending_ = false;
  Roles::Member next_member_ = 0;
  std::vector<std::unique_ptr<Attachment>> attachments_;
  loop::Event detached_;
};

}  // namespace holdfast::exec_server
