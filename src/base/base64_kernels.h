// The encoders and decoders behind base/base64.h, called kernels. They are visible so that the test and the benchmark
// can run each of them. No kernel reads outside of its input.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace holdfast::base64_kernels {

inline constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// An encoder accepts input of any length and writes exactly Base64EncodedSize() characters.
using Encode = char* (*)(std::span<const std::byte> in, char* out);

// A decoder decodes whole groups of four characters, without padding, from the front of the text. It ends at a group
// with a character outside of the alphabet, or when no whole group is left. It returns the number of characters
// decoded, and has written three bytes at `out` for each four of them. It may overwrite the rest of the `text.size() /
// 4 * 3` bytes there, but nothing behind them.
using Decode = size_t (*)(std::string_view text, char* out);

struct Kernel {
  std::string_view name;
  Encode encode;
  Decode decode;
};

char* EncodeScalar(std::span<const std::byte> in, char* out);
size_t DecodeScalar(std::string_view text, char* out);

// Returns the kernels that this CPU can run, the fastest first. There is always at least one.
std::span<const Kernel> AvailableKernels();

}  // namespace holdfast::base64_kernels
