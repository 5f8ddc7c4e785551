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

std::string EscapedByte(char byte) {
  return byte == '\n' ? "\\n" : fmt::format("\\x{:02x}", static_cast<uint8_t>(byte));
}

// Returns the escape of one character, or of one byte that is not UTF-8.
std::string EscapedCharacter(std::string_view character) {
  if (character == "\t") return "\\t";
  if (character.size() == 1) return EscapedByte(character[0]);
  const auto number = static_cast<uint32_t>(Utf8Character(character));
  return number > 0xffff ? fmt::format("\\U{:08x}", number) : fmt::format("\\u{:04x}", number);
}

// Returns the escape of a character in a JSON string, which has two of them for a character beyond 16 bits.
std::string JsonEscape(char32_t character) {
  const auto number = static_cast<uint32_t>(character);
  if (number <= 0xffff) return fmt::format("\\u{:04x}", number);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (number >> 10), 0xdc00 + (number & 0x3ff));
}

// Returns the character at the start of the text; the first byte if it is not UTF-8.
std::string_view FirstOf(std::string_view text) { return text.substr(0, std::max<size_t>(Utf8Length(text), 1)); }

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
      text += EscapedByte(word[0]);
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

std::string ShownText(std::string_view text) { return ShownExcerpt(text, std::string::npos); }

std::string ShownLines(std::string_view text) {
  std::string shown;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    shown += ShownText(text.substr(0, end)) + "\n";
  }
  return shown + ShownText(text);
}

std::string ShownExcerpt(std::string_view text, size_t max_bytes) {
  std::string shown;
  while (!text.empty()) {
    if (shown.size() >= max_bytes) return shown + "...";
    const std::string_view character = FirstOf(text);
    shown += ShownLength(text) == 0 ? EscapedCharacter(character) : character;
    text.remove_prefix(character.size());
  }
  return shown;
}

std::string ShownJson(std::string_view json) {
  std::string shown;
  while (!json.empty()) {
    const std::string_view character = FirstOf(json);
    const bool is_as_it_is = static_cast<uint8_t>(json[0]) < 0x7f || ShownLength(json) > 0;
    shown += is_as_it_is ? character : JsonEscape(Utf8Length(json) > 0 ? Utf8Character(character) : 0xfffd);
    json.remove_prefix(character.size());
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

std::string ShownVariables(std::span<const std::pair<std::string, std::string>> variables) {
  std::string text;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (i > 0) text += ' ';
    const std::string variable =
        fmt::format("{}={}", ShortenedWord(variables[i].first), ShortenedWord(variables[i].second));
    if (text.size() + variable.size() > kMaxCommandBytes) {
      return text + fmt::format("[{} more variables are not shown]", variables.size() - i);
    }
    text += variable;
  }
  return text;
}

}  // namespace holdfast
