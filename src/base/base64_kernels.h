// The encoders behind Base64Encode, visible so that the test and the benchmark can name each of them. Every kernel
// handles any length, reads nothing outside `in` and writes exactly the encoded size.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace holdfast::base64_kernels {

inline constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

using Encode = char* (*)(std::span<const std::byte> in, char* out);

struct Kernel {
  std::string_view name;
  Encode encode;
};

char* EncodeScalar(std::span<const std::byte> in, char* out);

// The kernels this CPU can run, the fastest first; never empty.
std::span<const Kernel> AvailableKernels();

}  // namespace holdfast::base64_kernels
