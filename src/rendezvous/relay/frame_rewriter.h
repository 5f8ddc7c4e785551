// A FrameRewriter turns the masked WebSocket frames that a client or an executor sends into the unmasked frames that a
// server sends, piece by piece as they arrive: it keeps a frame header at most, never a payload. It does no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::rendezvous {

class FrameRewriter {
 public:
  // Frames with a longer payload are an error.
  explicit FrameRewriter(uint64_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  // Reads the next bytes of the peer, removes masks in place, and appends the frames to `out`. Fails if the bytes break
  // RFC 6455: a frame without a mask, reserved bits or opcodes, a control frame that is long or fragmented, a
  // continuation without a beginning. After an error the connection has to end.
  Result<> Add(std::span<char> bytes, std::string& out);

  // Returns whether everything up to here were whole frames, so that frames of another source may come next.
  bool between_frames() const;

 private:
  uint64_t max_frame_bytes_;
  // The state is that of one direction of one connection.
};

}  // namespace holdfast::rendezvous
