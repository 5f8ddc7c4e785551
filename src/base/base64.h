// Base64 with the standard alphabet and padding. Output chunks and whole files pass through these functions, so
// encoding and decoding use the widest vector instructions that the CPU has. Decoding is strict: for each byte string
// exactly one text is accepted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast {

constexpr size_t Base64EncodedSize(size_t n) { return (n + 2) / 3 * 4; }

// Writes exactly Base64EncodedSize(in.size()) characters at `out` and returns the position behind the last one.
char* Base64Encode(std::span<const std::byte> in, char* out);
std::string Base64Encode(std::span<const std::byte> in);

// Refuses whitespace, missing or misplaced padding, and a last character with bits set that belong to no decoded byte.
Result<std::string> Base64Decode(std::string_view text);
// The same into a string that is used again and again, so that its memory is. After a failure its content is undefined.
Result<> Base64DecodeInto(std::string_view text, std::string& bytes);

}  // namespace holdfast
