#include "client/event_streams.h"

#include <algorithm>
#include <array>

#include "wire/decode.h"
#include "wire/methods.h"

namespace holdfast::client {
namespace {

ProcessEvent EventOf(wire::ProcessOutputParams params) {
  return Output{.seq = params.seq, .stream = params.stream, .bytes = std::move(params.chunk).Take()};
}
ProcessEvent EventOf(const wire::ProcessExitedParams& params) {
  return Exited{.seq = params.seq,
                .exit_code = params.exit_code,
                .sandbox_denied = params.sandbox_denied,
                .end = params.end ? params.end->cause : std::nullopt};
}
ProcessEvent EventOf(const wire::ProcessClosedParams& params) { return Closed{.seq = params.seq}; }

}  // namespace

EventStreams::Stream EventStreams::Follow(const std::string& process_id, Existence existence, Backlog backlog,
                                          uint64_t after_seq) {
  auto stream = std::make_shared<EventStream>(static_cast<EventStream::Owner&>(*this), backlog, after_seq);
  followed_.insert_or_assign(process_id, Followed{stream, existence});
  return stream;
}

void EventStreams::SetCertain(const std::string& process_id) {
  const auto found = followed_.find(process_id);
  if (found != followed_.end()) found->second.existence = Existence::kCertain;
}

void EventStreams::Forget(const std::string& process_id, const EventStream& stream) {
  const auto found = followed_.find(process_id);
  if (found == followed_.end() || found->second.stream.get() != &stream) return;
  const Stream forgotten = std::move(found->second.stream);
  followed_.erase(found);
  if (forgotten->full()) owner_.OnBacklog();
}

Result<> EventStreams::OnOutput(const wire::OutputFrame& frame) {
  const auto found = followed_.find(frame.process_id);
  if (found == followed_.end()) return {};
  const Stream stream = found->second.stream;  // a listener may forget it
  return stream->OnOutput(frame.seq, frame.stream, frame.chunk);
}

template <typename Notification>
Result<> EventStreams::TakeEvent(wire::Json json) {
  TRY(auto params, wire::Decode<typename Notification::Params>(json));
  const std::string process_id = params.process_id;
  Tell(process_id, EventOf(std::move(params)));
  return {};
}

Result<> EventStreams::TakeLoss(wire::Json json) {
  TRY(const auto params, wire::Decode<wire::ProcessOutputLostParams>(json));
  const auto found = followed_.find(params.process_id);
  if (found == followed_.end()) return {};
  const Stream stream = found->second.stream;
  stream->OnLost(params.from_seq, params.to_seq);
  return {};
}

void EventStreams::Tell(const std::string& process_id, ProcessEvent event) {
  const auto found = followed_.find(process_id);
  if (found == followed_.end()) return;
  const Stream stream = found->second.stream;
  stream->OnEvent(std::move(event));
  if (stream->last()) Forget(process_id, *stream);
}

Result<bool> EventStreams::OnNotification(std::string_view method, wire::Json params) {
  using TakeParams = Result<> (EventStreams::*)(wire::Json);
  static constexpr std::array<std::pair<std::string_view, TakeParams>, 4> kTakers{
      {{wire::ProcessOutput::kName, &EventStreams::TakeEvent<wire::ProcessOutput>},
       {wire::ProcessExited::kName, &EventStreams::TakeEvent<wire::ProcessExited>},
       {wire::ProcessClosed::kName, &EventStreams::TakeEvent<wire::ProcessClosed>},
       {wire::ProcessOutputLost::kName, &EventStreams::TakeLoss}}};
  for (const auto& [name, take] : kTakers) {
    if (name != method) continue;
    TRY_VOID((this->*take)(params));
    return true;
  }
  return false;
}

void EventStreams::FailAll(const Error& error) {
  for (auto& [id, followed] : std::exchange(followed_, {})) followed.stream->Fail(error);
}

bool EventStreams::any_full() const {
  return std::ranges::any_of(followed_, [](const auto& entry) { return entry.second.stream->full(); });
}

std::vector<EventStreams::Named> EventStreams::certain() const {
  std::vector<Named> found;
  for (const auto& [id, followed] : followed_) {
    if (followed.existence == Existence::kCertain) found.emplace_back(id, followed.stream);
  }
  return found;
}

std::vector<EventStreams::Named> EventStreams::wanting_retained() const {
  std::vector<Named> found;
  for (const auto& [id, followed] : followed_) {
    if (followed.stream->wants_retained()) found.emplace_back(id, followed.stream);
  }
  return found;
}

}  // namespace holdfast::client
