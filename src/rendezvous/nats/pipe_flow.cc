#include "rendezvous/nats/pipe_flow.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace holdfast::rendezvous {

size_t PipeFlow::sendable() const {
  return credit_ <= kMessageCost ? 0 : std::min<uint64_t>(credit_ - kMessageCost, kMaxPipeData);
}

std::string PipeFlow::Data(std::string_view bytes) {
  CHECK(!bytes.empty() && bytes.size() <= sendable());
  credit_ -= bytes.size() + kMessageCost;
  return Numbered({.kind = PipeMessage::Kind::kData, .bytes = bytes});
}

std::string PipeFlow::Numbered(PipeMessage message) {
  message.number = next_sent_++;
  return EncodePipeMessage(message);
}

Result<PipeMessage> PipeFlow::Receive(std::string_view text) {
  TRY(const PipeMessage message, DecodePipeMessage(text));
  if (message.number != next_received_) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("message of a pipe: it is number {} instead of {}", message.number, next_received_));
  }
  TRY_VOID(CheckWindows(message));
  ++next_received_;
  return message;
}

Result<> PipeFlow::CheckWindows(const PipeMessage& message) {
  if (message.kind == PipeMessage::Kind::kData) {
    const uint64_t cost = message.bytes.size() + kMessageCost;
    if (cost > window_ - held_) return Fail(ErrorKind::kLimit, "message of a pipe: it exceeds the window");
    held_ += cost;
  }
  if (message.kind == PipeMessage::Kind::kConsumed) {
    if (message.consumed > window_ - credit_) {
      return Fail(ErrorKind::kInvalidRequest, "message of a pipe: more is consumed than was sent");
    }
    credit_ += message.consumed;
  }
  return {};
}

std::optional<std::string> PipeFlow::Consume(size_t bytes) {
  unreported_ += bytes + kMessageCost;
  CHECK(unreported_ <= held_);
  if (unreported_ < window_ / 4) return std::nullopt;
  held_ -= unreported_;
  const uint64_t consumed = std::exchange(unreported_, 0);
  return Numbered({.kind = PipeMessage::Kind::kConsumed, .consumed = consumed});
}

}  // namespace holdfast::rendezvous
