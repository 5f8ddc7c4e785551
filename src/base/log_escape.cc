#include "base/log_escape.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "base/utf8.h"

namespace holdfast {
namespace {

// A pipe that is ready for writing accepts up to PIPE_BUF (4096) bytes in one piece. With values of at most this
// length, a usual line with its few values stays below that.
constexpr size_t kMaxValueBytes = 512;

void AppendCodeUnit(std::string& line, unsigned unit) { line += fmt::format("\\u{:04x}", unit); }

// Appends the character at the start of `text`, and returns the number of its bytes.
size_t AppendMultiByte(std::string& line, std::string_view text) {
  const size_t length = Utf8Length(text);
  if (length == 0) {
    AppendCodeUnit(line, 0xfffd);
    return 1;
  }
  line += ShownJson(text.substr(0, length));
  return length;
}

void AppendAscii(std::string& line, char c) {
  if (c == '"' || c == '\\') {
    line.append({'\\', c});
  } else if (c == '\n') {
    line += "\\n";
  } else if (c == '\t') {
    line += "\\t";
  } else if (c < 0x20 || c == 0x7f) {
    AppendCodeUnit(line, static_cast<uint8_t>(c));
  } else {
    line += c;
  }
}

bool IsPlain(char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '='; }

}  // namespace

void AppendQuoted(std::string& line, std::string_view value) {
  const std::string_view kept = value.substr(0, kMaxValueBytes);
  line += '"';
  for (size_t i = 0; i < kept.size();) {
    if (static_cast<uint8_t>(kept[i]) >= 0x80) {
      i += AppendMultiByte(line, kept.substr(i));
    } else {
      AppendAscii(line, kept[i++]);
    }
  }
  line += kept.size() < value.size() ? "...\"" : "\"";
}

void AppendWord(std::string& line, std::string_view value) {
  if (!value.empty() && value.size() <= kMaxValueBytes && std::ranges::all_of(value, IsPlain)) {
    line += value;
  } else {
    AppendQuoted(line, value);
  }
}

}  // namespace holdfast
