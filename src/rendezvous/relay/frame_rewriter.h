// A FrameRewriter turns the masked WebSocket frames that a client or an executor sends into the unmasked frames that a
// server sends, piece by piece as they arrive and where they lie: it keeps a frame header at most, never a payload. It
// does no I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "transport/frame_mask.h"

namespace holdfast::rendezvous {

class FrameRewriter {
 public:
  // The writable bytes that lie before each piece. The rewriter needs them for a header that began in an earlier piece.
  static constexpr size_t kHeadroomBytes = 16;

  // Frames with a longer payload are an error.
  explicit FrameRewriter(uint64_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  // Rewrites the next bytes of the peer in place, and returns the frames, or parts of frames, that they contain. The
  // result begins in the piece or in the headroom. It does not depend on where the stream was cut into pieces, except
  // that a header comes when it is complete. What follows an error or a Close frame is discarded.
  std::string_view Rewrite(std::span<char> piece);

  // Returns why the bytes break RFC 6455, section 5: a frame without a mask, reserved bits or opcodes, a length that is
  // not in its shortest form, a control frame that is long or fragmented, a message that begins inside another or
  // continues none. The kind is kLimit for a frame that is too long. The frames before it are valid.
  const std::optional<Error>& failure() const { return failure_; }

  // Returns whether the peer has sent a whole Close frame.
  bool closed() const { return closed_ && payload_left_ == 0; }

  // Returns whether everything up to here were whole frames, so that frames of another source may come next.
  bool between_frames() const { return header_bytes_ == 0 && payload_left_ == 0; }

 private:
  size_t TakeHeader(std::span<const char> bytes);
  bool has_header() const;
  Result<> CheckHeader();
  Result<> CheckOpcode();
  std::string_view ServerHeader();

  const uint64_t max_frame_bytes_;
  std::array<char, 14> header_{};  // of the next frame, as far as it has arrived
  size_t header_bytes_ = 0;
  uint64_t payload_left_ = 0;    // of the frame whose header was returned
  transport::FrameMask mask_{};  // begins with the byte for the next byte of the payload
  bool inside_message_ = false;  // the last data frame was not the last of its message
  bool closed_ = false;          // the header of a Close frame was returned
  std::optional<Error> failure_;
};

}  // namespace holdfast::rendezvous
