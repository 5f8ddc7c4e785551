#include "bench_flood.h"

#include <unistd.h>

#include <algorithm>
#include <span>

#include "base/base64.h"
#include "bench_server.h"

namespace holdfast::bench {
namespace {

// The flood consists of printable characters, so that a terminal passes them on unchanged. Its period is a multiple of
// 3, so that its base64 is periodic too. The period does not divide the size of a block, so that a lost block is
// noticed.
constexpr size_t kFloodPeriod = 93;
constexpr size_t kBlockBytes = 64 * 1024;

char FloodByte(size_t index) { return static_cast<char>('!' + index % kFloodPeriod); }

std::string FloodBytes(size_t from, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = FloodByte(from + i);
  return bytes;
}

}  // namespace

int WriteFlood(size_t total) {
  const std::string bytes = FloodBytes(0, kFloodPeriod + kBlockBytes);
  for (size_t at = 0; at < total;) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data() + at % kFloodPeriod, std::min(kBlockBytes, total - at));
    if (n <= 0) return 1;
    at += static_cast<size_t>(n);
  }
  return 0;
}

FloodCheck::FloodCheck() {
  for (size_t shift = 0; shift < texts_.size(); ++shift) {
    const std::string bytes = FloodBytes(shift, kFloodPeriod + kBlockBytes);
    texts_[shift] = Base64Encode(std::as_bytes(std::span(bytes)));
  }
}

void FloodCheck::Check(std::string_view chunk) {
  Require(chunk.size() >= 4 && chunk.size() <= Base64EncodedSize(kBlockBytes),
          "a chunk of the output is empty or has more than 64 KiB");
  const size_t whole = chunk.size() - 4;  // the last group may be padded
  const size_t phase = bytes_ % kFloodPeriod;
  const auto expected = std::string_view(texts_[phase % 3]).substr(phase / 3 * 4, whole);
  const std::string last = Base64Decode(chunk.substr(whole)).value_or("");
  bytes_ += whole / 4 * 3;
  Require(chunk.starts_with(expected) && !last.empty() && last == FloodBytes(bytes_, last.size()),
          "the output is not what was written");
  bytes_ += last.size();
}

}  // namespace holdfast::bench
