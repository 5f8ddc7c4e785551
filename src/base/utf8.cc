#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace holdfast {
namespace {

size_t LengthByLead(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

// Returns whether `second` may follow the first byte of a character. Overlong forms, surrogates and values past
// U+10FFFF are all recognised by the second byte.
bool IsSecondByte(uint8_t lead, uint8_t second) {
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

size_t AsciiWords(std::string_view text) {
  size_t length = 0;
  for (uint64_t word; length + sizeof word <= text.size(); length += sizeof word) {
    std::memcpy(&word, text.data() + length, sizeof word);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return length;
}

}  // namespace

size_t Utf8Length(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = LengthByLead(lead);
  if (length <= 1) return length;
  if (text.size() < length || !IsSecondByte(lead, static_cast<uint8_t>(text[1]))) return 0;
  return std::ranges::all_of(text.substr(2, length - 2), IsContinuation) ? length : 0;
}

char32_t Utf8Character(std::string_view bytes) {
  constexpr uint8_t lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};  // by the number of bytes
  char32_t character = static_cast<uint8_t>(bytes[0]) & lead_bits[bytes.size()];
  for (const char byte : bytes.substr(1)) character = character << 6 | (static_cast<uint8_t>(byte) & 0x3f);
  return character;
}

size_t IncompleteTail(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const char byte = text[text.size() - back];
    if (IsContinuation(byte)) continue;
    return LengthByLead(static_cast<uint8_t>(byte)) > back ? back : 0;
  }
  return 0;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(AsciiWords(text));
    // Up to 16 characters are checked one by one before the next attempt to skip ASCII, so that text in other scripts
    // does not pay for the attempt at each character.
    for (int i = 0; i < 16 && !text.empty(); ++i) {
      const size_t length = Utf8Length(text);
      if (length == 0) return false;
      text.remove_prefix(length);
    }
  }
  return true;
}

}  // namespace holdfast
