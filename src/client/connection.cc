#include "client/connection.h"

#include <string>
#include <utility>

namespace holdfast::client {

std::shared_ptr<Connection> Connection::Start(loop::EventLoop& loop, std::shared_ptr<rpc::Transport> transport,
                                              Owner& owner, uint64_t number) {
  auto connection = std::make_shared<Connection>(loop, std::move(transport), owner, number);
  connection->self_ = connection;
  connection->peer_->Start();
  return connection;
}

Connection::Connection(loop::EventLoop& loop, std::shared_ptr<rpc::Transport> transport, Owner& owner, uint64_t number)
    : owner_(&owner),
      number_(number),
      held_(loop, {}),
      peer_(std::make_shared<rpc::Peer>(rpc::PeerContext{.loop = loop, .held = held_, .document = document_},
                                        rpc::PeerOptions{.when_congested = rpc::WhenCongested::kGoOnReading},
                                        std::move(transport), *this)) {}

void Connection::Close() {
  closing_ = true;
  if (!ended_) peer_->Close();
}

void Connection::Abandon() {
  owner_ = nullptr;
  Close();
}

bool Connection::OnRawMessage(std::string_view message) {
  const auto frame = wire::ReadOutputFrame(message);
  if (!frame) return false;
  if (owner_ != nullptr && !owner_->OnOutput(*frame)) Close();
  return true;
}

void Connection::OnRequest(const rpc::Request& request, rpc::PendingReply reply) {
  if (owner_ != nullptr) owner_->OnRequest(request, std::move(reply));
}

void Connection::OnNotification(const rpc::Notification& notification) {
  if (owner_ != nullptr && !owner_->OnNotification(notification)) Close();
}

void Connection::OnUnreadable(const Error&) { Close(); }

void Connection::OnStrayResponse(const rpc::Response& response) {
  if (response.id != rpc::kNoRequest || response.result) return;
  const std::string& reason = response.result.error().message;
  refusal_ = {ErrorKind::kInvalidParams, "the server could not read a request: " + reason};
  Close();
}

void Connection::OnClosed() {
  ended_ = true;
  const auto self = std::exchange(self_, nullptr);
  if (Owner* const owner = std::exchange(owner_, nullptr)) owner->OnConnectionEnd(*this);
}

}  // namespace holdfast::client
