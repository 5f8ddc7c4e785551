// Frames, in which the execve wrapper and the server send each other JSON through a stream socket. A frame is the
// length of its text, four bytes with the lowest first, and then the text. Descriptors come with the first bytes of the
// frame that they belong to.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/foreign_fd.h"

namespace holdfast::escalate {

// The arguments and variables of a command have at most 6 MiB together, the limit of the kernel. JSON makes a text
// longer, base64 by a third.
inline constexpr size_t kMaxFrameBytes = 16 << 20;

struct Frame {
  std::string text;
  std::vector<sys::ForeignFd> fds;
};

// Returns the bytes of a frame. The text has at most kMaxFrameBytes.
std::string FrameOf(std::string_view text);

// Puts frames together from the pieces that a socket delivers. The peer is not trusted: memory is taken for the bytes
// that have arrived, and not for those that a length announces.
class FrameReader {
 public:
  explicit FrameReader(size_t max_bytes = kMaxFrameBytes) : max_bytes_(max_bytes) {}

  // The number of bytes that the next read may return at most. It never reaches beyond the frame that has begun: one
  // read could otherwise return the end of a frame together with the descriptors of the next one.
  size_t wanted() const;

  // Takes what one read has returned, at most wanted() bytes and at least one. Returns the frame if that completes it.
  // After an error nothing more can be read from the peer.
  Result<std::optional<Frame>> Add(std::string_view bytes, std::vector<sys::ForeignFd> fds);

 private:
  static constexpr size_t kHeaderBytes = 4;

  size_t max_bytes_;  // of the text of a frame
  std::array<unsigned char, kHeaderBytes> header_ = {};
  size_t header_size_ = 0;  // the bytes of the header that have arrived
  size_t text_size_ = 0;    // known when the header is complete
  Frame frame_;
};

}  // namespace holdfast::escalate
