#include "rpc/pending_calls.h"

#include <utility>

#include <fmt/format.h>

namespace holdfast::rpc {

PendingCalls::~PendingCalls() {
  for (auto* calls : {&waiting_, &sent_}) {
    for (auto& [id, call] : *calls) call->calls_ = nullptr;
  }
}

bool PendingCalls::WasIssued(const RequestId& id) const {
  const auto* number = std::get_if<int64_t>(&id);
  return number != nullptr && *number >= 1 && *number <= last_id_;
}

void PendingCalls::Add(Call& call) {
  if (failure_) {
    call.outcome_ = std::unexpected(*failure_);
    return;
  }
  call.calls_ = this;
  waiting_.emplace(call.outgoing_.id, &call);
  SendWaiting();
}

void PendingCalls::Remove(Call& call) {
  call.calls_ = nullptr;
  if (sent_.erase(call.outgoing_.id) == 0) waiting_.erase(call.outgoing_.id);
  SendWaiting();
}

void PendingCalls::Forget(Call& call) {
  const bool sent = sent_.contains(call.outgoing_.id);
  Remove(call);
  if (sent && on_forgotten_) on_forgotten_(call.outgoing_.id);
}

void PendingCalls::SendWaiting() {
  while (!waiting_.empty() && sent_.size() < kMaxInFlight && !failure_) {
    Call& call = *waiting_.begin()->second;
    sent_.insert(waiting_.extract(waiting_.begin()));
    send_(std::move(call.outgoing_.message));
  }
}

PendingCalls::Call* PendingCalls::Settle(const Response& response) {
  const auto* id = std::get_if<int64_t>(&response.id);
  const auto found = id != nullptr ? sent_.find(*id) : sent_.end();
  if (found == sent_.end()) return nullptr;
  Call& call = *found->second;
  call.outcome_ = call.OutcomeOf(response);
  Remove(call);
  return &call;
}

// A task that goes on may destroy other calls, so the first call is looked up again in each round.
void PendingCalls::FailAll(const Error& error) {
  failure_ = error;
  while (!sent_.empty() || !waiting_.empty()) {
    Call& call = *(sent_.empty() ? waiting_ : sent_).begin()->second;
    Remove(call);
    call.outcome_ = std::unexpected(error);
    call.Wake();
  }
}

PendingCalls::Call::Call(PendingCalls& calls, OutgoingCall outgoing, Decode decode)
    : outgoing_(std::move(outgoing)), decode_(std::move(decode)) {
  calls.Add(*this);
}

PendingCalls::Call::~Call() {
  if (calls_ != nullptr) calls_->Forget(*this);
}

Result<> PendingCalls::Call::OutcomeOf(const Response& response) {
  if (!response.result) return std::unexpected(response.result.error());
  const auto decoded = decode_(*response.result);
  if (decoded) return {};
  return Fail(ErrorKind::kInternal,
              fmt::format("{}: the answer cannot be read: {}", outgoing_.method, decoded.error().message));
}

loop::Task<Result<>> PendingCalls::Call::Wait(loop::EventLoop& loop, Timeout timeout) {
  loop::Deadline deadline(loop, timeout);
  while (!outcome_) {
    if (co_await changed_.NextBefore(deadline) == loop::Event::Woken::kByEvent) continue;
    co_return Fail(ErrorKind::kTimeout, fmt::format("{}: no answer within {} ms", outgoing_.method, timeout->count()));
  }
  co_return *std::move(outcome_);
}

}  // namespace holdfast::rpc
