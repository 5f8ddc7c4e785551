// The state of a pipe over NATS that decides what may be sent and what is accepted: the numbers of the messages, and
// the windows. A window is the cost of the data that the receiver may not have consumed yet; there is one for each
// direction. PipeFlow does no I/O: it makes the messages to send, and checks those that arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rendezvous/nats/pipe_message.h"

namespace holdfast::rendezvous {

// The memory that a message needs beside its bytes, in the NATS library and here. It is part of the cost, so that a
// window of single bytes is not held in a hundred times its size.
inline constexpr size_t kMessageCost = 256;

class PipeFlow {
 public:
  explicit PipeFlow(size_t window_bytes) : window_(window_bytes), credit_(window_bytes) {}

  // Returns the number of bytes that the next message of data may have; 0 while the window is used up.
  size_t sendable() const;
  std::string Data(std::string_view bytes);  // not more than sendable()
  std::string Alive() { return Numbered({.kind = PipeMessage::Kind::kAlive}); }
  std::string End() { return Numbered({.kind = PipeMessage::Kind::kEnd}); }

  // Decodes a message of the other end. Fails if it is not the next one or uses more than the windows allow; the pipe
  // then has to end.
  Result<PipeMessage> Receive(std::string_view text);

  // Takes note that `bytes` of one message were consumed. Returns the message that tells the other end, if it is time
  // for one: once for a quarter of the window, so that credit costs little and the sender never waits for the rest.
  std::optional<std::string> Consume(size_t bytes);

 private:
  std::string Numbered(PipeMessage message);
  Result<> CheckWindows(const PipeMessage& message);

  const uint64_t window_;
  uint64_t credit_;          // the part of the outgoing window that is free
  uint64_t held_ = 0;        // the part of the incoming window that is not consumed, or not reported yet
  uint64_t unreported_ = 0;  // the part of `held_` that is consumed
  uint64_t next_sent_ = 0, next_received_ = 0;
};

}  // namespace holdfast::rendezvous
