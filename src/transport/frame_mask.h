// The masks of the WebSocket frames that a client sends (RFC 6455, section 5.3). Each frame has its own mask, which the
// peer cannot predict, so that no client can be made to send chosen bytes to a proxy that mistakes them for HTTP.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace holdfast::transport {

using FrameMask = std::array<char, 4>;

// A source of masks from the kernel's random generator, which is asked once for many masks.
class FrameMasks {
 public:
  FrameMask Next();

 private:
  std::array<FrameMask, 64> masks_;
  size_t used_ = masks_.size();
};

// Masks a payload, or removes its mask.
void ApplyMask(std::span<char> payload, FrameMask mask);

// Returns the mask for the rest of a payload of which `done` bytes have been masked.
FrameMask RotatedMask(FrameMask mask, size_t done);

}  // namespace holdfast::transport
