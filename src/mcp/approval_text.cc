#include "mcp/approval_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/utf8.h"
#include "mcp/shell_output.h"

namespace holdfast::mcp {
namespace {

constexpr size_t kMaxShownBytes = 16u << 10;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("@%_-+=:,./").contains(c);
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Returns whether the character, as UTF-8, changes the direction of text or has no width.
bool IsInvisible(std::string_view character) {
  for (const std::string_view prefix :
       {"\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9",
        "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7",
        "\xe2\x81\xa8", "\xe2\x81\xa9", "\xef\xbb\xbf"}) {
    if (character == prefix) return true;
  }
  // The C1 control characters, U+0080 to U+009F.
  return character.size() == 2 && character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
}

// Returns the length of the character at the start of `text` if it can be shown as it is, and 0 otherwise. A backtick
// would end the part of the question that is code.
size_t ShownLength(std::string_view text) {
  const size_t length = Utf8Length(text);
  if (length == 0 || IsControl(text[0]) || text[0] == '`') return 0;
  return IsInvisible(text.substr(0, length)) ? 0 : length;
}

bool IsShownAsItIs(std::string_view word) {
  while (!word.empty()) {
    const size_t length = ShownLength(word);
    if (length == 0) return false;
    word.remove_prefix(length);
  }
  return true;
}

std::string Escaped(std::string_view word) {
  std::string text = "$'";
  while (!word.empty()) {
    const size_t length = ShownLength(word);
    if (length == 0) {
      text += word[0] == '\n' ? "\\n" : fmt::format("\\x{:02x}", static_cast<uint8_t>(word[0]));
      word.remove_prefix(1);
      continue;
    }
    if (word[0] == '\'' || word[0] == '\\') text += '\\';
    text += word.substr(0, length);
    word.remove_prefix(length);
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

std::string CommandText(const escalate::Question& question) {
  std::string text = ShownWord(question.file);
  for (size_t i = 1; i < question.argv.size(); ++i) text += " " + ShownWord(question.argv[i]);
  if (text.size() <= kMaxShownBytes) return text;
  const size_t bytes = text.size();
  text.resize(kMaxShownBytes);
  text.resize(text.size() - IncompleteTail(text));
  return fmt::format("{} [{} more bytes are not shown]", text, bytes - text.size());
}

}  // namespace

std::string ShownWord(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, IsPlain)) return std::string(word);
  return IsShownAsItIs(word) ? SingleQuoted(word) : Escaped(word);
}

std::string ApprovalMessage(const escalate::Question& question) {
  std::string text = fmt::format("Allow agent to run `{}` in `{}`?", CommandText(question), ShownWord(question.cwd));
  if (!question.reason.empty()) text += "\n" + question.reason;
  return text;
}

}  // namespace holdfast::mcp
