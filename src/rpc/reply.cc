#include "rpc/reply.h"

#include "base/check.h"

namespace holdfast::rpc {

PendingReply::PendingReply(PendingReply&& other) noexcept
    : sink_(std::move(other.sink_)),
      id_(std::move(other.id_)),
      cost_(other.cost_),
      permit_(std::move(other.permit_)),
      dialect_(other.dialect_),
      pending_(std::exchange(other.pending_, false)) {}

PendingReply::~PendingReply() {
  if (pending_) Fail({ErrorKind::kInternal, "the request was dropped"});
}

void PendingReply::SucceedEncoded(std::string message) {
  message += '}';
  Answer(std::move(message));
}

void PendingReply::Withdraw() {
  CHECK(pending_);
  pending_ = false;
  if (auto sink = sink_.lock()) sink->Withdraw(cost_);
}

void PendingReply::Answer(std::string message) {
  CHECK(pending_);
  pending_ = false;
  if (auto sink = sink_.lock()) sink->Answer(std::move(message), cost_);
}

}  // namespace holdfast::rpc
