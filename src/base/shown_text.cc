#include "base/shown_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/utf8.h"

namespace holdfast {
namespace {

constexpr size_t kMaxWordBytes = 1024, kHeadBytes = 512, kTailBytes = 256;
constexpr size_t kMaxCommandBytes = 16u << 10;

struct Range {
  char32_t first, last;
};

// The characters that Unicode calls default ignorable, the control characters, the separators except for the space, the
// marks of annotations, and a pattern of Braille without dots. The ranges are sorted.
constexpr Range kInvisible[] = {
    {0x0000, 0x001f}, {0x007f, 0x00a0},   {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160},
    {0x1680, 0x1680}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x2000, 0x200f},   {0x2028, 0x202f}, {0x205f, 0x206f},
    {0x2800, 0x2800}, {0x3000, 0x3000},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};
static_assert(std::ranges::is_sorted(kInvisible, {}, &Range::first));

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("@%_-+=:,./").contains(c);
}

// Returns the length of the character at the start of `text` if it can be shown as it is, and 0 otherwise.
size_t ShownLength(std::string_view text) {
  const size_t length = Utf8Length(text);
  return length == 0 || IsInvisible(Utf8Character(text.substr(0, length))) ? 0 : length;
}

size_t ShownLengthInWord(std::string_view word) { return word[0] == '`' ? 0 : ShownLength(word); }

std::string Escape(char byte) { return byte == '\n' ? "\\n" : fmt::format("\\x{:02x}", static_cast<uint8_t>(byte)); }

bool IsShownAsItIs(std::string_view word) {
  while (!word.empty()) {
    const size_t length = ShownLengthInWord(word);
    if (length == 0) return false;
    word.remove_prefix(length);
  }
  return true;
}

std::string Escaped(std::string_view word) {
  std::string text = "$'";
  while (!word.empty()) {
    const size_t length = ShownLengthInWord(word);
    if (length == 0) {
      text += Escape(word[0]);
    } else {
      if (word[0] == '\'' || word[0] == '\\') text += '\\';
      text += word.substr(0, length);
    }
    word.remove_prefix(std::max<size_t>(length, 1));
  }
  return text + "'";
}

std::string SingleQuoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

// Returns at most `bytes` bytes at the start of a word, and less if a character would be split.
std::string_view HeadOf(std::string_view word, size_t bytes) {
  const std::string_view head = word.substr(0, bytes);
  return head.substr(0, head.size() - IncompleteTail(head));
}

std::string_view TailOf(std::string_view word, size_t bytes) {
  size_t begin = word.size() - bytes;
  while (begin < word.size() && (static_cast<uint8_t>(word[begin]) & 0xc0) == 0x80) ++begin;
  return word.substr(begin);
}

std::string ShortenedWord(std::string_view word) {
  if (word.size() <= kMaxWordBytes) return ShownWord(word);
  const std::string_view head = HeadOf(word, kHeadBytes), tail = TailOf(word, kTailBytes);
  return fmt::format("{}[{} bytes are not shown]{}", ShownWord(head), word.size() - head.size() - tail.size(),
                     ShownWord(tail));
}

}  // namespace

bool IsInvisible(char32_t character) {
  return std::ranges::any_of(kInvisible,
                             [&](const Range& range) { return character >= range.first && character <= range.last; });
}

std::string ShownText(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = ShownLength(text);
    shown += length == 0 ? Escape(text[0]) : std::string(text.substr(0, length));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

std::string ShownWord(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, IsPlain)) return std::string(word);
  return IsShownAsItIs(word) ? SingleQuoted(word) : Escaped(word);
}

std::string ShownCommand(std::span<const std::string> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += ' ';
    const std::string word = ShortenedWord(words[i]);
    if (text.size() + word.size() > kMaxCommandBytes) {
      return text + fmt::format("[{} more words are not shown]", words.size() - i);
    }
    text += word;
  }
  return text;
}

}  // namespace holdfast
