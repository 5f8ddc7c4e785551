#include "transport/frame_mask.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace holdfast::transport {

// The kernel interrupts a call for at most 256 bytes only before its generator is ready, which is at boot.
FrameMask FrameMasks::Next() {
  if (used_ == masks_.size()) {
    static_assert(sizeof(masks_) <= 256);
    ssize_t count;
    do {
      count = ::getrandom(masks_.data(), sizeof(masks_), 0);
    } while (count < 0 && errno == EINTR);
    CHECK(count == sizeof(masks_));
    used_ = 0;
  }
  return masks_[used_++];
}

// The payload is masked in words of eight bytes, a loop that the compiler vectorises. The rest of at most seven bytes
// begins at a multiple of four, and so with the first byte of the mask.
void ApplyMask(std::span<char> payload, FrameMask mask) {
  const uint64_t half = std::bit_cast<uint32_t>(mask);
  const uint64_t doubled = half << 32 | half;
  const size_t in_words = payload.size() / sizeof(doubled) * sizeof(doubled);
  for (size_t i = 0; i < in_words; i += sizeof(doubled)) {
    uint64_t word;
    std::memcpy(&word, payload.data() + i, sizeof(word));
    word ^= doubled;
    std::memcpy(payload.data() + i, &word, sizeof(word));
  }
  for (size_t i = in_words; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
}

FrameMask RotatedMask(FrameMask mask, size_t done) {
  std::ranges::rotate(mask, mask.begin() + static_cast<ptrdiff_t>(done % mask.size()));
  return mask;
}

}  // namespace holdfast::transport
