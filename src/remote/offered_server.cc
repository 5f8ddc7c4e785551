#include "remote/offered_server.h"

namespace holdfast::remote {

void OfferedConnection::Start(rpc::Receiver& receiver) {
  receiver_ = &receiver;
  transport_->Start(*this);
}

// The receiver may release its reference to this object, and `on_change_` may too.
void OfferedConnection::OnMessage(std::string_view message) {
  if (taken_) return receiver_->OnMessage(message);
  const auto on_change = on_change_;
  taken_ = true;
  receiver_->OnMessage(message);
  on_change();
}

void OfferedConnection::OnClosed() {
  const auto on_change = on_change_;
  ended_ = true;
  receiver_->OnClosed();
  on_change();
}

}  // namespace holdfast::remote
