// Outbound WebSocket frames (RFC 6455, section 5.2). A server sends payloads unchanged. A client masks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transport/frame_mask.h"

namespace holdfast::transport {

class Outbox;

enum class Role { kServer, kClient };

enum class Opcode : uint8_t { kContinuation = 0x0, kText = 0x1, kPing = 0x9 };
enum class Fragment : uint8_t { kMoreFollow = 0x00, kLast = 0x80 };

// Returns 2, 4 or 10 bytes, and four more with a mask. All of them fit into a string without an allocation.
std::string FrameHeader(Opcode opcode, Fragment fragment, uint64_t payload_bytes,
                        std::optional<FrameMask> mask = std::nullopt);

// A FrameWriter puts frames into an outbox.
class FrameWriter {
 public:
  // A longer payload than `max_payload_bytes` is cut into continuation frames. Borrows the outbox.
  FrameWriter(Outbox& outbox, Role role, size_t max_payload_bytes);

  // Appends one message. Its payload is moved. All frames of a message enter the outbox together, so no other frame
  // comes between them.
  void AppendText(std::string message);
  void AppendEmptyPing();

 private:
  void AppendFragments(std::string message);
  void AppendHeader(Opcode opcode, Fragment fragment, std::span<char> payload);

  Outbox& outbox_;
  const size_t max_payload_bytes_;
  std::optional<FrameMasks> masks_;  // absent in the role of the server
};

inline constexpr uint8_t kCloseFrameStart = 0x88;

}  // namespace holdfast::transport
