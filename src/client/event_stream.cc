#include "client/event_stream.h"

#include <utility>

#include "base/base64.h"

namespace holdfast::client {
Result<> EventStream::OnOutput(uint64_t seq, wire::Stream stream, std::string_view chunk_base64) {
  const EventOrder::Place place = order_.PlaceOf(seq);
  if (last_ || place == EventOrder::Place::kKnown || LetGoBy()) return {};
  if (place == EventOrder::Place::kNext && listener_ != nullptr) {
    TRY_VOID(Base64DecodeInto(chunk_base64, decoded_));
    order_.PublishedOutput(seq);
    listener_->OnOutput(seq, stream, decoded_);
  } else {
    TRY(std::string bytes, Base64Decode(chunk_base64));
    order_.Hold(Output{.seq = seq, .stream = stream, .bytes = std::move(bytes)});
  }
  PublishHeld();
  return {};
}

void EventStream::OnEvent(ProcessEvent event) {
  if (last_) return;
  if (const auto* exited = std::get_if<Exited>(&event); exited != nullptr && !exit_) exit_ = *exited;
  if (!LetGoBy()) order_.Hold(std::move(event));
  PublishHeld();
}

void EventStream::OnLost(uint64_t from_seq, uint64_t to_seq) {
  order_.Skip(from_seq, to_seq);
  PublishHeld();
}

void EventStream::OnRetained(RetainedOutput retained) {
  order_.Settle(std::move(retained));
  PublishHeld();
}

void EventStream::Fail(Error error) {
  if (last_) return;
  Deliver(Failed{std::move(error)});
  changed_.Notify();
}

// Returns whether an event is not kept, because there is no room and it can be read later.
bool EventStream::LetGoBy() {
  if (full_ && backlog_.when_full == WhenFull::kReadLater) behind_ = true;
  return behind_;
}

void EventStream::PublishHeld() {
  // When too much is held behind a gap, the missing events are not coming any more.
  if (order_.overfull()) order_.SkipToHeld();
  while (auto event = order_.Next()) Deliver(*std::move(event));
  changed_.Notify();
}

void EventStream::Deliver(ProcessEvent event) {
  if (last_) return;
  if (const auto* exited = std::get_if<Exited>(&event)) exit_ = *exited;
  if (IsLast(event)) last_ = event;
  if (listener_ == nullptr) return Queue(std::move(event));
  if (const auto* output = std::get_if<Output>(&event)) {
    listener_->OnOutput(output->seq, output->stream, output->bytes);
  } else {
    listener_->OnEvent(event);
  }
}

void EventStream::Queue(ProcessEvent event) {
  if (IsLast(event)) return;  // Take finds it in last_
  queued_bytes_ += OutputBytes(event);
  queue_.push_back(std::move(event));
  if (queued_bytes_ >= backlog_.max_bytes) SetFull(true);
}

std::optional<ProcessEvent> EventStream::Take() {
  if (queue_.empty()) return last_;
  ProcessEvent event = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= OutputBytes(event);
  if (queued_bytes_ <= backlog_.max_bytes / 2) SetFull(false);
  return event;
}

void EventStream::SetFull(bool full) {
  if (std::exchange(full_, full) != full) owner_.OnBacklog(*this);
}

void EventStream::Listen(EventListener* listener) {
  listener_ = listener;
  if (listener == nullptr) return;
  std::deque<ProcessEvent> queued = std::exchange(queue_, {});
  const auto last = std::exchange(last_, std::nullopt);
  for (ProcessEvent& event : queued) Deliver(std::move(event));
  if (last) Deliver(*last);
  queued_bytes_ = 0;
  SetFull(false);
}

}  // namespace holdfast::client
