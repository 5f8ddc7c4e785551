#include "rendezvous/relay/frame_cursor.h"

#include <algorithm>

#include "rendezvous/relay/frame_header.h"

namespace holdfast::rendezvous {

void FrameCursor::Advance(std::string_view piece) {
  while (!piece.empty()) {
    const size_t payload = std::min<uint64_t>(piece.size(), payload_left_);
    payload_left_ -= payload;
    piece.remove_prefix(payload);
    if (piece.empty()) return;
    header_[header_bytes_++] = piece.front();
    piece.remove_prefix(1);
    if (header_bytes_ < 2 || header_bytes_ < 2 + LengthBytes(header_[1])) continue;
    payload_left_ = PayloadBytes(header_.data());
    closed_ = closed_ || OpcodeOf(header_[0]) == kCloseFrame;
    passed_message_ = passed_message_ || ends_message_;
    ends_message_ = EndsMessage(header_[0]);
    header_bytes_ = 0;
  }
}

}  // namespace holdfast::rendezvous
