// A Connection is one connection of a session: the peer, and the objects that it needs until it has ended. It tells its
// owner, the session, what the server sends. It stays alive until the transport has closed, even if the session is gone
// by then.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "rpc/peer.h"
#include "rpc/transport.h"
#include "wire/json.h"
#include "wire/notification.h"

namespace holdfast::client {

class Connection final : public rpc::PeerHost, public std::enable_shared_from_this<Connection> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;

    // An error means that the server does not keep to the protocol, and ends the connection.
    virtual Result<> OnOutput(const wire::OutputFrame& frame) = 0;
    virtual Result<> OnNotification(const rpc::Notification& notification) = 0;
    virtual void OnRequest(const rpc::Request& request, rpc::PendingReply reply) = 0;
    // The connection has ended, and every call over it has failed.
    virtual void OnConnectionEnd(Connection& connection) = 0;
  };

  // The connections of a session are numbered from 1.
  static std::shared_ptr<Connection> Start(loop::EventLoop& loop, std::shared_ptr<rpc::Transport> transport,
                                           Owner& owner, uint64_t number);
  Connection(loop::EventLoop& loop, std::shared_ptr<rpc::Transport> transport, Owner& owner, uint64_t number);

  // Calls a method. If the connection is closed because the server could not read one of its requests, the call fails
  // with the server's refusal, and not with kDisconnected: to repeat the request would not help.
  template <typename Method>
  loop::Task<Result<typename Method::Result>> Call(typename Method::Params params, rpc::Timeout timeout) {
    return Explain(shared_from_this(), peer_->Call<Method>(std::move(params), timeout));
  }
  loop::Task<Result<std::string>> CallText(std::string method, std::string params, rpc::Timeout timeout) {
    return Explain(shared_from_this(), peer_->CallText(std::move(method), std::move(params), timeout));
  }
  rpc::Peer& peer() { return *peer_; }
  uint64_t number() const { return number_; }
  bool ended() const { return ended_; }
  // Returns whether a call would still be sent. The calls of a connection fail a moment before its owner is told of the
  // end.
  bool usable() const { return !closing_ && !peer_->closed(); }

  void Close();
  // Closes the connection, and reports nothing more to the owner.
  void Abandon();

  // The error by which the server has refused a request that it could not read. The error does not say which one.
  const std::optional<Error>& refusal() const { return refusal_; }

 private:
  template <typename T>
  static loop::Task<Result<T>> Explain(std::shared_ptr<Connection> self, loop::Task<Result<T>> call) {
    auto outcome = co_await std::move(call);
    const bool cut = !outcome && outcome.error().kind == ErrorKind::kDisconnected;
    if (cut && self->refusal_) co_return std::unexpected(*self->refusal_);
    co_return std::move(outcome);
  }

  bool OnRawMessage(std::string_view message) override;
  void OnRequest(const rpc::Request& request, rpc::PendingReply reply) override;
  void OnNotification(const rpc::Notification& notification) override;
  void OnUnreadable(const Error& error) override;
  void OnStrayResponse(const rpc::Response& response) override;
  void OnClosed() override;

  Owner* owner_;  // null when the session is gone
  const uint64_t number_;
  bool closing_ = false, ended_ = false;
  std::optional<Error> refusal_;
  loop::ByteBudget held_;
  wire::Document document_;
  const std::shared_ptr<rpc::Peer> peer_;
  std::shared_ptr<Connection> self_;  // until the transport has closed
};

}  // namespace holdfast::client
