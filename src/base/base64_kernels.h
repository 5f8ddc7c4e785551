// The encoders and decoders behind base/base64.h, visible so that the test and the benchmark can name each of them.
// None reads outside of its input.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace holdfast::base64_kernels {

inline constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Handles any length and writes exactly the encoded size.
using Encode = char* (*)(std::span<const std::byte> in, char* out);

// Decodes whole groups of four characters, without padding, from the front until a group has a character outside the
// alphabet or no whole group is left. Returns how many characters that was: three bytes at `out` for each four. The
// rest of the text.size() / 4 * 3 bytes there may be overwritten, but nothing behind them.
using Decode = size_t (*)(std::string_view text, char* out);

struct Kernel {
  std::string_view name;
  Encode encode;
  Decode decode;
};

char* EncodeScalar(std::span<const std::byte> in, char* out);
size_t DecodeScalar(std::string_view text, char* out);

// The kernels this CPU can run, the fastest first; never empty.
std::span<const Kernel> AvailableKernels();

}  // namespace holdfast::base64_kernels
