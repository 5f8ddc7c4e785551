#include "rendezvous/relay/frame_rewriter.h"

#include <algorithm>
#include <cstring>

#include "rendezvous/relay/frame_header.h"

namespace holdfast::rendezvous {
namespace {

std::unexpected<Error> Breach(std::string message) { return Fail(ErrorKind::kInvalidRequest, std::move(message)); }

size_t HeaderBytes(char second_byte) { return 2 + LengthBytes(second_byte) + kMaskBytes; }

}  // namespace

// Output never overtakes input: a frame of a server is four bytes shorter than that of a client. The first frame of a
// piece is not moved, because its header is written right before its payload.
std::string_view FrameRewriter::Rewrite(std::span<char> piece) {
  char* begin = piece.data();
  char* end = begin;
  while (!piece.empty() && !failure_ && !closed()) {
    if (payload_left_ == 0) {
      piece = piece.subspan(TakeHeader(piece));
      if (!has_header()) break;
      if (const auto checked = CheckHeader(); !checked) {
        failure_ = checked.error();
        break;
      }
      const std::string_view header = ServerHeader();
      if (begin == end) begin = end = piece.data() - header.size();
      end = std::ranges::copy(header, end).out;
    }
    const auto payload = piece.first(std::min<uint64_t>(piece.size(), payload_left_));
    transport::ApplyMask(payload, mask_);
    mask_ = transport::RotatedMask(mask_, payload.size());
    if (end != payload.data()) std::memmove(end, payload.data(), payload.size());
    end += payload.size();
    payload_left_ -= payload.size();
    piece = piece.subspan(payload.size());
  }
  return {begin, end};
}

bool FrameRewriter::has_header() const { return header_bytes_ >= 2 && header_bytes_ == HeaderBytes(header_[1]); }

// Returns the number of bytes that belong to the header.
size_t FrameRewriter::TakeHeader(std::span<const char> bytes) {
  size_t taken = 0;
  while (taken < bytes.size() && !has_header()) header_[header_bytes_++] = bytes[taken++];
  return taken;
}

Result<> FrameRewriter::CheckHeader() {
  const auto first = static_cast<uint8_t>(header_[0]);
  const auto second = static_cast<uint8_t>(header_[1]);
  if ((first & kReservedBits) != 0) return Breach("a frame has reserved bits");
  if ((second & kMasked) == 0) return Breach("a frame has no mask");
  const uint64_t bytes = PayloadBytes(header_.data());
  const size_t length_bytes = LengthBytes(header_[1]);
  if ((length_bytes == 2 && bytes <= kMaxShortLength) || (length_bytes == 8 && bytes <= UINT16_MAX)) {
    return Breach("the length of a frame is not in its shortest form");
  }
  if (bytes >> 63 != 0) return Breach("the length of a frame has more than 63 bits");
  TRY_VOID(CheckOpcode());
  if (bytes > max_frame_bytes_) return Fail(ErrorKind::kLimit, "a frame is too long");
  return {};
}

Result<> FrameRewriter::CheckOpcode() {
  const uint8_t opcode = OpcodeOf(header_[0]);
  const bool is_last = (static_cast<uint8_t>(header_[0]) & kLastFragment) != 0;
  if (opcode > kPongFrame || (opcode > kBinaryFrame && opcode < kCloseFrame))
    return Breach("a frame has a reserved opcode");
  if ((opcode & kControlBit) != 0) {
    const uint64_t bytes = PayloadBytes(header_.data());
    if (!is_last) return Breach("a control frame is fragmented");
    if (bytes > kMaxShortLength) return Breach("a control frame is too long");
    if (opcode == kCloseFrame && bytes == 1) return Breach("a Close frame has half a code");
    closed_ = opcode == kCloseFrame;
    return {};
  }
  if (opcode == kContinuationFrame && !inside_message_) return Breach("a fragment continues no message");
  if (opcode != kContinuationFrame && inside_message_) return Breach("a message begins inside another");
  inside_message_ = !is_last;
  return {};
}

// Returns the header without its mask, and begins the payload.
std::string_view FrameRewriter::ServerHeader() {
  const size_t bytes = header_bytes_ - kMaskBytes;
  payload_left_ = PayloadBytes(header_.data());
  std::copy_n(header_.data() + bytes, kMaskBytes, mask_.data());
  header_[1] = static_cast<char>(static_cast<uint8_t>(header_[1]) & kLengthBits);
  header_bytes_ = 0;
  return {header_.data(), bytes};
}

}  // namespace holdfast::rendezvous
