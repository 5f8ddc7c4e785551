#include "starlark/characters.h"

#include <algorithm>

namespace holdfast::starlark {
namespace {

// Every byte but the first of a character has the form 10xxxxxx.
constexpr bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

bool IsName(std::string_view text) {
  return !text.empty() && IsNameStart(text[0]) && std::ranges::all_of(text, IsNamePart);
}

bool AppendCharacter(std::string& text, uint32_t character) {
  if (character > 0x10ffff || (character >= 0xd800 && character <= 0xdfff)) return false;
  if (character < 0x80) {
    text.push_back(static_cast<char>(character));
    return true;
  }
  const int further = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  // As many high bits as the character has bytes mark the first of them.
  const uint32_t mark = 0xff00U >> (further + 1) & 0xff;
  text.push_back(static_cast<char>(mark | character >> (6 * further)));
  for (int byte = further - 1; byte >= 0; --byte) {
    text.push_back(static_cast<char>(0x80 | (character >> (6 * byte) & 0x3f)));
  }
  return true;
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, BeginsCharacter));
}

uint32_t FirstCharacter(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  uint32_t character = first & (0x7fU >> size);
  for (const char c : text.substr(1, size - 1)) character = character << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return character;
}

size_t OffsetOfCharacter(std::string_view text, size_t index) {
  for (size_t offset = 0; offset < text.size(); ++offset) {
    if (!BeginsCharacter(text[offset])) continue;
    if (index == 0) return offset;
    --index;
  }
  return text.size();
}

}  // namespace holdfast::starlark
