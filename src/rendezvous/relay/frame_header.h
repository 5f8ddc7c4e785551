// The first bytes of a WebSocket frame (RFC 6455, section 5.2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::rendezvous {

inline constexpr uint8_t kLastFragment = 0x80;  // in the first byte
inline constexpr uint8_t kReservedBits = 0x70;
inline constexpr uint8_t kOpcodeBits = 0x0f;
inline constexpr uint8_t kControlBit = 0x08;  // of an opcode
inline constexpr uint8_t kMasked = 0x80;      // in the second byte
inline constexpr uint8_t kLengthBits = 0x7f;

inline constexpr uint8_t kContinuationFrame = 0x0;
inline constexpr uint8_t kBinaryFrame = 0x2;
inline constexpr uint8_t kCloseFrame = 0x8;
inline constexpr uint8_t kPingFrame = 0x9;
inline constexpr uint8_t kPongFrame = 0xa;

inline constexpr uint8_t kMaxShortLength = 125;
inline constexpr size_t kMaskBytes = 4;

// Returns the bytes that the length occupies after the second byte of a header.
constexpr size_t LengthBytes(char second_byte) {
  const int length = static_cast<uint8_t>(second_byte) & kLengthBits;
  return length <= kMaxShortLength ? 0 : length == 126 ? 2 : 8;
}

// Returns the length of the payload. The header is complete up to the mask.
constexpr uint64_t PayloadBytes(const char* header) {
  const size_t bytes = LengthBytes(header[1]);
  if (bytes == 0) return static_cast<uint8_t>(header[1]) & kLengthBits;
  uint64_t length = 0;
  for (size_t i = 0; i < bytes; ++i) length = length << 8 | static_cast<uint8_t>(header[2 + i]);
  return length;
}

constexpr uint8_t OpcodeOf(char first_byte) { return static_cast<uint8_t>(first_byte) & kOpcodeBits; }

// Returns whether the frame is the last one of a text or binary message.
constexpr bool EndsMessage(char first_byte) {
  return (static_cast<uint8_t>(first_byte) & (kLastFragment | kControlBit)) == kLastFragment;
}

}  // namespace holdfast::rendezvous
