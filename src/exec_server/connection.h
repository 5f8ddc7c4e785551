// One socket's side of the protocol: the envelope, the handshake, the dispatch, and how much may be in flight. Requests
// are started in the order they come; their answers come when they are ready.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "exec_server/config/config.h"
#include "exec_server/methods.h"
#include "exec_server/processes/heap_trim.h"
#include "exec_server/session/session_table.h"
#include "loop/byte_budget.h"
#include "rpc/envelope.h"
#include "rpc/reply.h"
#include "rpc/transport.h"
#include "wire/json.h"
#include "wire/session_messages.h"

namespace holdfast::exec_server {

// What a connection borrows from its server.
struct ConnectionContext {
  const Config& config;
  loop::ByteBudget& held;
  HeapTrim& heap;
  const wire::EnvironmentInfo& environment_info;
  SessionTable& sessions;
  const Methods& methods;
  wire::Document& document;  // one for all connections: a message is decoded before the next is looked at
};

class Connection final : public rpc::Receiver, public rpc::ReplySink, public std::enable_shared_from_this<Connection> {
 public:
  using OnEnd = std::function<void(Connection&)>;

  Connection(const ConnectionContext& context, std::shared_ptr<rpc::Transport> transport, OnEnd on_end);

  void Start() { transport_->Start(*this); }
  void Close() { transport_->Close(); }
  std::string_view peer() const { return transport_->peer(); }

  void OnMessage(std::string_view message) override;
  void OnDrained() override;
  void OnClosed() override;
  void Answer(std::string message, size_t cost) override;

 private:
  enum class Phase { kFresh, kInitialized, kReady };

  void OnRequest(rpc::Request request, size_t size);
  void OnNotification(const rpc::Notification& notification);
  void Initialize(wire::Json params, rpc::PendingReply reply);
  Result<wire::InitializeResult> OpenSession(const wire::InitializeParams& params);
  Result<> CheckReady(std::string_view method) const;
  loop::ByteBudget::Permit PermitFor(size_t request_bytes);
  void OnReclaim();
  void SendError(const Error& error);
  void AdjustReading();

  ConnectionContext context_;
  std::shared_ptr<rpc::Transport> transport_;
  OnEnd on_end_;
  Phase phase_ = Phase::kFresh;
  std::shared_ptr<Session> session_;
  size_t inflight_ = 0, inflight_bytes_ = 0;
  loop::ByteBudget::Permit unsent_;  // for answers that the client does not take
  rpc::Reading reading_ = rpc::Reading::kOn;
  bool closed_ = false;
};

}  // namespace holdfast::exec_server
