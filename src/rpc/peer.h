// A peer is one end of a conversation, accepted or dialled. It passes requests and notifications to its host, counts
// the requests that are not answered yet and stops reading when there are too many, and makes calls of its own:
//
//   auto read = co_await peer.Call<wire::ProcessRead>(params, 5s);
//
// The host is called in the order in which messages arrive; each answer is sent as soon as it is ready, so answers may
// come in another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "loop/task.h"
#include "rpc/message.h"
#include "rpc/peer_host.h"
#include "rpc/pending_calls.h"
#include "rpc/reply.h"
#include "rpc/transport.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/json.h"

namespace holdfast::rpc {

class Peer final : public Receiver, public ReplySink, public std::enable_shared_from_this<Peer> {
 public:
  using Host = PeerHost;

  // A started peer must live until it has called Host::OnClosed, which may destroy it.
  Peer(const PeerContext& context, const PeerOptions& options, std::shared_ptr<Transport> transport, Host& host);

  void Start() { transport_->Start(*this); }
  void Close() { transport_->Close(); }

  // Calls a method of the other end. The params are encoded inside this call, so views in them need not live longer. A
  // call fails with kTimeout if the answer takes too long, and with kDisconnected if the connection ends first. A task
  // that is destroyed forgets its call. The peer must be alive when the task begins.
  template <typename Method>
  loop::Task<Result<typename Method::Result>> Call(typename Method::Params params, Timeout timeout) {
    OutgoingCall call{calls_.NextId(), Method::kName, {}};
    call.message = BeginRequest(call.id, call.method, options_.dialect);
    wire::Encoder(call.message).Value(params);
    call.message += '}';
    return Finish<typename Method::Result>(std::move(call), timeout);
  }

  // Calls a method by its name, with its params as JSON, and returns the result as JSON.
  loop::Task<Result<std::string>> CallText(std::string method, std::string params_json, Timeout timeout);

  template <typename Notification>
  void Notify(typename Notification::Params params) {
    std::string message = BeginNotification(Notification::kName, options_.dialect);
    wire::Encoder(message).Value(params);
    message += '}';
    Send(std::move(message));
  }

  void Send(std::string message) { transport_->Send(std::move(message)); }  // a message that is encoded already
  void Refuse(const Error& error);  // answers a message that has no id of its own

  // With kOff the peer does not read until the host calls this again with kOn.
  void SetReading(Reading wanted);

  bool congested() const { return transport_->congested(); }
  bool closed() const { return closed_; }
  std::string_view remote_name() const { return transport_->peer(); }
  Transport& transport() { return *transport_; }

  void OnMessage(std::string_view message) override;
  void OnDrained() override;
  void OnClosed() override;
  void Answer(std::string message, size_t cost) override;
  void Withdraw(size_t cost) override;

 private:
  template <typename T>
  loop::Task<Result<T>> Finish(OutgoingCall outgoing, Timeout timeout) {
    T result;
    auto decode = [&result](wire::Json json) -> Result<> {
      TRY(result, wire::Decode<T>(json, "result"));
      return {};
    };
    PendingCalls::Call call(calls_, std::move(outgoing), std::move(decode));
    auto outcome = co_await call.Wait(context_.loop, timeout);
    if (!outcome) co_return std::unexpected(std::move(outcome).error());
    co_return std::move(result);
  }

  void Parse(std::string_view message);
  void OnRequest(const Request& request, size_t size);
  void OnResponse(const Response& response);
  loop::ByteBudget::Permit PermitFor(size_t request_bytes);
  void OnReclaim();
  void EndRequest(size_t cost);
  void AdjustReading();

  const PeerContext context_;
  const PeerOptions options_;
  const std::shared_ptr<Transport> transport_;
  Host& host_;
  PendingCalls calls_;
  size_t inflight_ = 0, inflight_bytes_ = 0;
  loop::ByteBudget::Permit unsent_;  // counts the answers that the other end does not read
  Reading wanted_ = Reading::kOn, reading_ = Reading::kOn;
  bool closed_ = false;
};

}  // namespace holdfast::rpc
