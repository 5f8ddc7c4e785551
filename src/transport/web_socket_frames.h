// Functions for outbound WebSocket frames (RFC 6455, section 5.2). A server does not mask its frames, so a payload is
// sent unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::transport {

class Outbox;

enum class Opcode : uint8_t { kContinuation = 0x0, kText = 0x1 };
enum class Fragment : uint8_t { kMoreFollow = 0x00, kLast = 0x80 };

// Returns 2, 4 or 10 bytes, which fit into a string without an allocation.
std::string FrameHeader(Opcode opcode, Fragment fragment, uint64_t payload_bytes);

// Appends one message. A payload that fits into one frame is moved, and a longer one is cut into continuation frames.
// All frames of a message enter the outbox together, so no other frame comes between them.
void AppendTextMessage(Outbox& outbox, std::string message, size_t frame_bytes);

inline constexpr std::string_view kEmptyPing("\x89\x00", 2);
inline constexpr uint8_t kCloseFrameStart = 0x88;

}  // namespace holdfast::transport
