#include "apply_patch/characters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace holdfast::apply_patch {
namespace {

bool IsSpace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

// Returns the code point of one whole character.
char32_t Decode(std::string_view character) {
  const auto lead = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return lead;
  char32_t value = lead & (0x7f >> character.size());
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<uint8_t>(c) & 0x3f);
  return value;
}

std::string_view FirstCharacter(std::string_view text) { return text.substr(0, std::max<size_t>(Utf8Length(text), 1)); }

std::string_view LastCharacter(std::string_view text) {
  size_t start = text.size() - 1;
  while (start > 0 && IsContinuation(text[start])) --start;
  return text.substr(start);
}

// Returns the plain ASCII form of a character, or 0 if it has none or is plain itself.
char PlainForm(char32_t c) {
  if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212) return '-';
  if (c >= 0x2018 && c <= 0x201b) return '\'';
  if (c >= 0x201c && c <= 0x201f) return '"';
  if (c == 0xa0 || (c >= 0x2002 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000) return ' ';
  return 0;
}

}  // namespace

std::string_view TrimStart(std::string_view text) {
  while (!text.empty()) {
    const std::string_view first = FirstCharacter(text);
    if (!IsSpace(Decode(first))) break;
    text.remove_prefix(first.size());
  }
  return text;
}

std::string_view TrimEnd(std::string_view text) {
  while (!text.empty()) {
    const std::string_view last = LastCharacter(text);
    if (!IsSpace(Decode(last))) break;
    text.remove_suffix(last.size());
  }
  return text;
}

std::string_view Trim(std::string_view text) { return TrimStart(TrimEnd(text)); }

std::string Shortened(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && IsContinuation(text[limit])) --limit;
  return std::string(text.substr(0, limit)) + "...";
}

std::string FoldPunctuation(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  while (!text.empty()) {
    const std::string_view first = FirstCharacter(text);
    if (const char plain = PlainForm(Decode(first)); plain != 0) {
      folded += plain;
    } else {
      folded += first;
    }
    text.remove_prefix(first.size());
  }
  return folded;
}

}  // namespace holdfast::apply_patch
