// The messages between the two ends of a pipe over NATS. Each begins with its kind (one byte) and its number (eight
// bytes, the highest first), which counts the messages of one direction from 0. Another participant of NATS may send
// anything on the same subject, so that nothing but exactly such a message is accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::rendezvous {

struct PipeMessage {
  enum class Kind : uint8_t {
    kData = 1,      // bytes of the stream, at least one
    kConsumed = 2,  // the receiver has consumed part of the window; the cost follows, in eight bytes
    kEnd = 3,       // the sender has closed the pipe
    kAlive = 4,     // the sender had nothing else to say
  };

  Kind kind = Kind::kAlive;
  uint64_t number = 0;
  std::string_view bytes{};  // of data; in a decoded message a view of the text
  uint64_t consumed = 0;

  friend bool operator==(const PipeMessage&, const PipeMessage&) = default;
};

inline constexpr size_t kMaxPipeData = 64u << 10;
inline constexpr size_t kPipeHeaderBytes = 9;

std::string EncodePipeMessage(const PipeMessage& message);
Result<PipeMessage> DecodePipeMessage(std::string_view text);

}  // namespace holdfast::rendezvous
