// A connection is the server's end of the protocol on one socket. It does the handshake, and passes each request to the
// handler of its method. The peer below it reads the messages and limits how many requests may be unanswered.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "exec_server/config/config.h"
#include "exec_server/methods.h"
#include "exec_server/processes/heap_trim.h"
#include "exec_server/session/session_table.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rpc/message.h"
#include "rpc/method_table.h"
#include "rpc/peer.h"
#include "rpc/reply.h"
#include "rpc/transport.h"
#include "sandbox/helper_command/sandbox_program.h"
#include "wire/json.h"
#include "wire/method.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

// The objects of the server that a connection uses. They outlive the connection.
struct ConnectionContext {
  loop::EventLoop& loop;
  const Config& config;
  loop::ByteBudget& held;
  HeapTrim& heap;
  const wire::EnvironmentInfo& environment_info;
  SessionTable& sessions;
  const Methods& methods;
  const sandbox::SandboxProgram& sandbox_program;
  wire::Document& document;  // shared by all connections, because a message is decoded before the next one is parsed
};

class Connection final : public rpc::PeerHost {
 public:
  using OnEnd = std::function<void(Connection&)>;

  // `on_end` is called when the transport has closed. The connection must live until then.
  Connection(const ConnectionContext& context, std::shared_ptr<rpc::Transport> transport, OnEnd on_end);

  void Start() { peer_->Start(); }
  void Close() { peer_->Close(); }
  std::string_view remote_name() const { return peer_->remote_name(); }

  void OnRequest(const rpc::Request& request, rpc::PendingReply reply) override;
  void OnNotification(const rpc::Notification& notification) override;
  void OnUnreadable(const Error& error) override;
  void OnStrayResponse(const rpc::Response& response) override;
  void OnHandled(size_t bytes) override { context_.heap.Note(bytes); }
  void OnCongested() override;
  void OnDrained() override;
  void OnReclaimed(size_t inflight_bytes) override;
  void OnClosed() override;

 private:
  enum class Phase { kFresh, kOpening, kInitialized, kReady };

  void OnHandshake(const rpc::Request& request, rpc::PendingReply reply);
  void Initialize(const wire::InitializeParams& params, rpc::Reply<wire::InitializeResult> reply);
  loop::Task<> Open(wire::InitializeParams params, rpc::Reply<wire::InitializeResult> reply);
  loop::Task<Result<std::shared_ptr<Session>>> FindSession(const wire::InitializeParams& params);
  wire::InitializeResult Attach(const wire::InitializeParams& params);
  Result<> CheckReady(std::string_view method) const;
  Result<> CheckRole(wire::Caller caller) const;

  const ConnectionContext context_;
  const OnEnd on_end_;
  const std::shared_ptr<rpc::Peer> peer_;
  Phase phase_ = Phase::kFresh;
  std::shared_ptr<Session> session_;
  Attachment* attachment_ = nullptr;  // belongs to session_
  loop::Scope opening_;
};

}  // namespace holdfast::exec_server
