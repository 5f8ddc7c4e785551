// One end of the stream socket between the server and a file helper: lines of JSON both ways, and open files with them.
// It blocks; one thread at a time uses it. The two take turns: a file belongs to the first line that was not received
// yet.
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
  // `socket` is borrowed. A longer line is an error.
  Channel(int socket, size_t max_line_bytes)
      : socket_(socket), max_line_bytes_(max_line_bytes), piece_(std::make_unique_for_overwrite<Piece>()) {}

  // `line` has no line break in it. A descriptor travels with its first bytes.
  Result<> Send(std::string line, std::optional<int> fd = std::nullopt);

  struct Line {
    std::string text;  // without its end
    OwnedFd fd;        // closed when none came
  };
  // Nothing at the end of the stream.
  Result<std::optional<Line>> Receive();

 private:
  using Piece = std::array<char, 64 << 10>;

  Result<size_t> Fill();

  int socket_;
  size_t max_line_bytes_;
  std::unique_ptr<Piece> piece_;  // what one call receives
  std::string buffer_;            // received, not given out
  OwnedFd fd_;
};

}  // namespace holdfast::files
