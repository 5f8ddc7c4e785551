#include "base/printable.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace holdfast {
namespace {

// Returns the number of a character of two or three bytes; 0 for one of four bytes, none of which needs an escape.
unsigned NumberOf(std::string_view character) {
  const auto byte = [&](size_t index) { return static_cast<unsigned char>(character[index]); };
  if (character.size() == 2) return (byte(0) & 0x1fU) << 6 | (byte(1) & 0x3fU);
  if (character.size() == 3) return (byte(0) & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
  return 0;
}

bool IsDeceptive(unsigned number) {
  return (number >= 0x80 && number < 0xa0) ||       // control characters, such as CSI
         number == 0x200e || number == 0x200f ||    // marks of direction
         number == 0x2028 || number == 0x2029 ||    // ends of lines and paragraphs
         (number >= 0x202a && number <= 0x202e) ||  // embedded and overridden directions
         (number >= 0x2066 && number <= 0x2069);    // isolated directions
}

void AppendByte(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (byte < 0x20 || byte >= 0x7f) {
    out += fmt::format("\\x{:02x}", byte);
  } else {
    out += c;
  }
}

}  // namespace

std::string PrintableExcerpt(std::string_view text, size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= max_bytes) return out + "...";
    const size_t length = Utf8Length(text);
    if (length <= 1) {
      AppendByte(out, text[0]);
    } else if (const unsigned number = NumberOf(text.substr(0, length)); IsDeceptive(number)) {
      out += fmt::format("\\u{:04x}", number);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace holdfast
