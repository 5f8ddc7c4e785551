// An attachment is everything that a connection has under way or open in its session and that ends with the connection.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "exec_server/files/file_attachment.h"
#include "exec_server/http/http_exchanges.h"
#include "exec_server/link/client_link.h"
#include "exec_server/processes/observer.h"
#include "exec_server/processes/process_requests.h"
#include "exec_server/session/roles.h"
#include "loop/event.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "rpc/peer.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

class Session;

class Attachment {
 public:
  // The place of an attachment in its session.
  struct Place {
    Session& session;
    const std::string& session_id;
    SessionProcesses& processes;
    Roles::Member member;
  };

  Attachment(const Place& place, loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client)
      : session_(place.session),
        member_(place.member),
        transport_(transport),
        client_(client),
        files_(workers, transport, client, place.session_id),
        exchanges_(transport, client),
        processes_(place.processes, place.member) {}
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  Session& session() { return session_; }
  Roles::Member member() const { return member_; }
  rpc::Transport& transport() { return transport_; }
  const ClientTraits& client() const { return client_; }

  // The peer of the connection, once its client has finished the handshake.
  const std::weak_ptr<rpc::Peer>& peer() const { return peer_; }
  void SetPeer(std::weak_ptr<rpc::Peer> peer) { peer_ = std::move(peer); }

  // The parts of the attachment that requests work on.
  ProcessRequests& processes() { return processes_; }
  FileAttachment& files() { return files_; }
  HttpExchanges& exchanges() { return exchanges_; }

  // The observer by which the session reports to this connection; null if the connection drives the session.
  Observer* observer() const { return observer_; }
  void SetObserver(Observer* observer) { observer_ = observer; }
  wire::SessionRole role() const {
    return observer_ != nullptr ? wire::SessionRole::kObserver : wire::SessionRole::kDriver;
  }

  // Runs the task of a request about the session itself. The task ends with the connection.
  void Start(loop::Task<> request) { requests_.Start(std::move(request)); }

  // This event is notified when the transport has room again.
  loop::Event& drained() { return drained_; }
  void OnDrained() {
    files_.OnDrained();
    exchanges_.ResumeAll();
    drained_.Notify();
  }

 private:
  Session& session_;
  const Roles::Member member_;
  rpc::Transport& transport_;
  const ClientTraits client_;
  std::weak_ptr<rpc::Peer> peer_;
  Observer* observer_ = nullptr;
  FileAttachment files_;
  HttpExchanges exchanges_;
  ProcessRequests processes_;
  loop::Event drained_;
  loop::Scope requests_;
};

}  // namespace holdfast::exec_server
