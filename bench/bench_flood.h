// A flood of output that can be checked.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::bench {

// Writes `total` bytes of the flood to standard output, in blocks of 64 KiB; returns an exit code.
int WriteFlood(size_t total);

// Checks every byte of a flood without decoding it, because decoding would cost the client more than the server spends.
// Each chunk is compared with one of three prepared base64 texts, one for each position that the beginning of the chunk
// can have in a group of three bytes.
class FloodCheck {
 public:
  FloodCheck();

  // Checks `chunk`, which is the base64 of the bytes that follow those checked so far.
  void Check(std::string_view chunk);

  size_t bytes() const { return bytes_; }

 private:
  std::array<std::string, 3> texts_;
  size_t bytes_ = 0;
};

}  // namespace holdfast::bench
