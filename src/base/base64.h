// Base64 with the standard alphabet and padding. Output chunks and whole files pass through, so both ways use the
// widest kernel the CPU has. Decoding is strict: each byte string has exactly one accepted text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast {

constexpr size_t Base64EncodedSize(size_t n) { return (n + 2) / 3 * 4; }

// Writes exactly Base64EncodedSize(in.size()) characters at `out` and returns the end of them.
char* Base64Encode(std::span<const std::byte> in, char* out);
std::string Base64Encode(std::span<const std::byte> in);

// Refuses whitespace, missing or misplaced padding and set bits that no byte uses.
Result<std::string> Base64Decode(std::string_view text);

}  // namespace holdfast
