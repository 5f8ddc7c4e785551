// A channel is one end of the stream socket between the server and a file helper. Both send lines of JSON, and a line
// may carry an open file. Calls block, and only one thread at a time may use a channel. The server and the helper take
// turns, so a descriptor that arrives belongs to the first line that Receive has not returned yet.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::files {

class Channel {
 public:
  // The channel does not own `socket`. Receive fails if a line is longer than `max_line_bytes`.
  Channel(int socket, size_t max_line_bytes)
      : socket_(socket), max_line_bytes_(max_line_bytes), piece_(std::make_unique_for_overwrite<Piece>()) {}

  // Sends a line, which must not contain a line break. The descriptor is sent with the first bytes of the line.
  Result<> Send(std::string line, std::optional<int> fd = std::nullopt);

  struct Line {
    std::string text;  // without the line break
    OwnedFd fd;        // not open if no descriptor came with the line
  };
  // Returns the next line, or nothing at the end of the stream.
  Result<std::optional<Line>> Receive();

 private:
  using Piece = std::array<char, 64 << 10>;

  Result<size_t> Fill();

  int socket_;
  size_t max_line_bytes_;
  std::unique_ptr<Piece> piece_;  // the bytes that one system call received
  std::string buffer_;            // received bytes that Receive has not returned yet
  OwnedFd fd_;
};

}  // namespace holdfast::files
