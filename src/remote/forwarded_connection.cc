#include "remote/forwarded_connection.h"

#include <utility>

#include "base/log.h"

namespace holdfast::remote {

ForwardedConnection::ForwardedConnection(std::shared_ptr<rpc::Transport> client, loop::ByteBudget& budget,
                                         DialServer dial, loop::Callback on_end)
    : budget_(budget), client_(*this, std::move(client)), dial_(std::move(dial)), on_end_(std::move(on_end)) {}

void ForwardedConnection::Close() {
  dialling_.reset();
  client_.transport().Close();
  if (server_) server_->transport().Close();
}

loop::ByteBudget::Permit ForwardedConnection::OpenPermit() {
  return budget_.Open([this] {
    LogWarn("forward.reclaimed", {{"reason", "a side has not read for too long, and others need the memory"}});
    Close();
  });
}

// A message that the transport could pass on at once does not count.
void ForwardedConnection::Side::Send(std::string message) {
  const size_t bytes = message.size();
  transport_->Send(std::move(message));
  if (transport_->congested()) waiting_.Resize(waiting_.bytes() + bytes);
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
  other->Send(std::string(message));
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
  loop::ByteBudget::Permit held = OpenPermit();
  held.Resize(first_message.size());
  auto dialled = co_await dial_();
  if (!dialled) {
    LogWarn("forward.unreachable", {{"reason", dialled.error().message}});
    co_return client_.transport().Close();
  }
  server_.emplace(*this, *std::move(dialled));
  server_->Open();
  server_->Send(std::move(first_message));
  if (!server_->transport().congested()) client_.transport().SetReading(rpc::Reading::kOn);
}

}  // namespace holdfast::remote
