// A FrameCursor follows a stream of unmasked frames, piece by piece, and knows where the frames end. It trusts the
// stream: a FrameRewriter has checked it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::rendezvous {

class FrameCursor {
 public:
  void Advance(std::string_view piece);

  bool between_frames() const { return header_bytes_ == 0 && payload_left_ == 0; }

  // Returns whether a whole Close frame has passed.
  bool closed() const { return closed_ && payload_left_ == 0; }

  // Returns whether a whole message has passed.
  bool has_passed_message() const { return passed_message_ || (ends_message_ && payload_left_ == 0); }

 private:
  std::array<char, 10> header_{};
  size_t header_bytes_ = 0;
  uint64_t payload_left_ = 0;
  bool closed_ = false;
  bool ends_message_ = false;    // the latest frame is the last one of its message
  bool passed_message_ = false;  // before the latest frame
};

}  // namespace holdfast::rendezvous
