#include "base/base64.h"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>

#include "base/base64_kernels.h"

namespace holdfast {
namespace {

using Group = std::array<char, 3>;

std::unexpected<Error> BadBase64(std::string_view what, size_t offset) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("base64: {} at offset {}", what, offset));
}

std::unexpected<Error> BadCharacter(std::string_view text, size_t offset) {
  while (base64_kernels::kAlphabet.contains(text[offset])) ++offset;
  return BadBase64(text[offset] == '=' ? "misplaced padding" : "bad character", offset);
}

size_t PaddingOf(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

// Decodes the last group of a padded text. The padding is replaced by 'A', whose sextet is zero. A bit that is set
// behind the wanted bytes therefore comes from the text itself, and makes the text invalid.
Result<Group> PaddedGroup(std::string_view text, size_t padding) {
  const size_t start = text.size() - 4;
  const char group[4] = {text[start], text[start + 1], padding == 2 ? 'A' : text[start + 2], 'A'};
  Group bytes;
  if (base64_kernels::DecodeScalar({group, sizeof group}, bytes.data()) == 0) return BadCharacter(text, start);
  const bool is_exact = std::ranges::all_of(bytes | std::views::drop(3 - padding), [](char byte) { return byte == 0; });
  if (!is_exact) return BadBase64("unused bits set", text.size() - padding - 1);
  return bytes;
}

}  // namespace

char* Base64Encode(std::span<const std::byte> in, char* out) {
  static const base64_kernels::Encode encode = base64_kernels::AvailableKernels().front().encode;
  return encode(in, out);
}

std::string Base64Encode(std::span<const std::byte> in) {
  const size_t size = Base64EncodedSize(in.size());
  std::string text;
  text.resize_and_overwrite(size, [in, size](char* out, size_t /*libstdc++ 12 passes the grown capacity*/) {
    Base64Encode(in, out);
    return size;
  });
  return text;
}

Result<> Base64DecodeInto(std::string_view text, std::string& bytes) {
  static const base64_kernels::Decode decode = base64_kernels::AvailableKernels().front().decode;
  const size_t padding = PaddingOf(text);
  const std::string_view unpadded = text.substr(0, padding == 0 || text.size() < 4 ? text.size() : text.size() - 4);
  const size_t size = text.size() / 4 * 3;
  size_t done = 0;
  bytes.resize_and_overwrite(size, [&](char* out, size_t /*libstdc++ 12 passes the grown capacity*/) {
    done = decode(unpadded, out);
    return size;
  });
  if (done + 4 <= unpadded.size()) return BadCharacter(text, done);
  if (text.size() % 4 != 0) return BadBase64("incomplete group of four characters", text.size());
  if (padding == 0) return {};

  TRY(const Group last, PaddedGroup(text, padding));
  bytes.replace(bytes.size() - 3, 3, last.data(), 3 - padding);
  return {};
}

Result<std::string> Base64Decode(std::string_view text) {
  std::string bytes;
  TRY_VOID(Base64DecodeInto(text, bytes));
  return bytes;
}

}  // namespace holdfast
