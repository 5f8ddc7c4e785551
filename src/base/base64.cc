#include "base/base64.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/base64_kernels.h"

namespace holdfast {
namespace {

// No sum of three sextets in place reaches this bit, so one test after the OR finds a bad character in any of the four.
constexpr uint32_t kBad = 1u << 24;

using Column = std::array<uint32_t, 256>;

// One column per place in a group of four, each sextet already shifted to its place in the 24 bits.
constexpr std::array<Column, 4> kColumns = [] {
  std::array<Column, 4> columns{};
  for (size_t place = 0; place < 4; ++place) {
    columns[place].fill(kBad);
    for (uint32_t sextet = 0; sextet < 64; ++sextet) {
      columns[place][static_cast<uint8_t>(base64_kernels::kAlphabet[sextet])] = sextet << (18 - 6 * place);
    }
  }
  return columns;
}();

uint32_t GroupBits(const char* group) {
  const auto* in = reinterpret_cast<const uint8_t*>(group);
  return kColumns[0][in[0]] | kColumns[1][in[1]] | kColumns[2][in[2]] | kColumns[3][in[3]];
}

void PutGroup(uint32_t bits, char* out) {
  out[0] = static_cast<char>(bits >> 16);
  out[1] = static_cast<char>(bits >> 8);
  out[2] = static_cast<char>(bits);
}

// Writes the whole groups of `text` up to the first bad one and returns how many characters that was.
size_t DecodeGroups(std::string_view text, char* out) {
  size_t offset = 0;
  for (; offset + 4 <= text.size(); offset += 4, out += 3) {
    const uint32_t bits = GroupBits(text.data() + offset);
    if ((bits & kBad) != 0) break;
    PutGroup(bits, out);
  }
  return offset;
}

std::unexpected<Error> BadBase64(std::string_view what, size_t offset) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("base64: {} at offset {}", what, offset));
}

std::unexpected<Error> BadCharacter(std::string_view text, size_t offset) {
  while (kColumns[0][static_cast<uint8_t>(text[offset])] != kBad) ++offset;
  return BadBase64(text[offset] == '=' ? "misplaced padding" : "bad character", offset);
}

size_t PaddingOf(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

// The last group of a padded text. 'A' stands for the padding: its sextet is zero, so every set bit below the wanted
// bytes comes from the text.
Result<uint32_t> PaddedGroupBits(std::string_view text, size_t padding) {
  const size_t start = text.size() - 4;
  char group[4] = {text[start], text[start + 1], padding == 2 ? 'A' : text[start + 2], 'A'};
  const uint32_t bits = GroupBits(group);
  if ((bits & kBad) != 0) return BadCharacter(text, start);
  if ((bits & (padding == 2 ? 0xffffu : 0xffu)) != 0) return BadBase64("unused bits set", text.size() - padding - 1);
  return bits;
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

Result<std::string> Base64Decode(std::string_view text) {
  const size_t padding = PaddingOf(text);
  const std::string_view unpadded = text.substr(0, padding == 0 || text.size() < 4 ? text.size() : text.size() - 4);
  const size_t size = text.size() / 4 * 3;
  std::string bytes;
  size_t done = 0;
  bytes.resize_and_overwrite(size, [&](char* out, size_t /*libstdc++ 12 passes the grown capacity*/) {
    done = DecodeGroups(unpadded, out);
    return size;
  });
  if (done + 4 <= unpadded.size()) return BadCharacter(text, done);
  if (text.size() % 4 != 0) return BadBase64("group cut short", text.size());
  if (padding == 0) return bytes;

  TRY(const uint32_t bits, PaddedGroupBits(text, padding));
  PutGroup(bits, bytes.data() + bytes.size() - 3);
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace holdfast
