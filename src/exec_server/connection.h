// A connection is the server's end of the protocol on one socket. It reads the envelope of each message, does the
// handshake, passes each request to the handler of its method, and limits how many requests may be unanswered. Handlers
// are called in the order in which the requests arrive; each answer is sent as soon as it is ready, so answers may come
// in another order.
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

// The objects of the server that a connection uses. They outlive the connection.
struct ConnectionContext {
  const Config& config;
  loop::ByteBudget& held;
  HeapTrim& heap;
  const wire::EnvironmentInfo& environment_info;
  SessionTable& sessions;
  const Methods& methods;
  wire::Document& document;  // shared by all connections, because a message is decoded before the next one is parsed
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
  loop::ByteBudget::Permit unsent_;  // counts the answers that the client does not read
  rpc::Reading reading_ = rpc::Reading::kOn;
  bool closed_ = false;
};

}  // namespace holdfast::exec_server
