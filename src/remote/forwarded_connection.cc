#include "remote/forwarded_connection.h"

#include <utility>

#include "base/log.h"

namespace holdfast::remote {

ForwardedConnection::ForwardedConnection(std::shared_ptr<rpc::Transport> client, DialServer dial, loop::Callback on_end)
    : client_(*this, std::move(client)), dial_(std::move(dial)), on_end_(std::move(on_end)) {}

void ForwardedConnection::Close() {
  dialling_.reset();
  client_.transport().Close();
  if (server_) server_->transport().Close();
}

ForwardedConnection::Side* ForwardedConnection::OtherOf(Side& side) {
  if (&side != &client_) return &client_;
  return server_ ? &*server_ : nullptr;
}

// A client that speaks before its server is reached is not read until then, so that one message waits at most.
void ForwardedConnection::OnMessage(Side& from, std::string_view message) {
  Side* const other = OtherOf(from);
  if (other == nullptr) {
    from.transport().SetReading(rpc::Reading::kOff);
    if (dialling_) dialling_->Start(Reach(std::string(message)));
    return;
  }
  other->transport().Send(std::string(message));
  if (other->transport().congested()) from.transport().SetReading(rpc::Reading::kOff);
}

void ForwardedConnection::OnDrained(Side& side) {
  if (Side* const other = OtherOf(side)) other->transport().SetReading(rpc::Reading::kOn);
}

void ForwardedConnection::OnClosed(Side& side) {
  dialling_.reset();
  Side* const other = OtherOf(side);
  if (other != nullptr && !other->ended()) return other->transport().Close();
  auto on_end = std::move(on_end_);
  on_end();
}

loop::Task<> ForwardedConnection::Reach(std::string first_message) {
  auto dialled = co_await dial_();
  if (!dialled) {
    LogWarn("forward.unreachable", {{"reason", dialled.error().message}});
    co_return client_.transport().Close();
  }
  server_.emplace(*this, *std::move(dialled));
  server_->Open();
  server_->transport().Send(std::move(first_message));
  client_.transport().SetReading(rpc::Reading::kOn);
}

}  // namespace holdfast::remote
