#include "base/file_uri.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/paths.h"

namespace holdfast {
namespace {

// Returns the text in quotes for an error message. A client chooses the text, so at most 256 bytes of it are repeated.
// A longer text is cut between two UTF-8 characters.
std::string Quoted(std::string_view text) {
  constexpr size_t limit = 256;
  if (text.size() <= limit) return fmt::format("\"{}\"", text);
  size_t end = limit;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return fmt::format("\"{}...\"", text.substr(0, end));
}

std::unexpected<Error> BadPath(std::string_view text, std::string_view reason,
                               ErrorKind kind = ErrorKind::kInvalidParams) {
  return Fail(kind, fmt::format("path {}: {}", Quoted(text), reason));
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, AsciiLower);
}

bool IsSchemeCharacter(char c) {
  const char lower = AsciiLower(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

std::optional<std::string_view> SchemeOf(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view scheme = text.substr(0, colon);
  const bool starts_with_letter = AsciiLower(scheme[0]) >= 'a' && AsciiLower(scheme[0]) <= 'z';
  if (!starts_with_letter || !std::ranges::all_of(scheme, IsSchemeCharacter)) return std::nullopt;
  return scheme;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = AsciiLower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Decodes the path of a file: URI as the WHATWG URL parser does: a backslash that is not escaped separates components
// like a slash, and a percent sign without two hexadecimal digits behind it stands for itself.
std::string DecodeUriPath(std::string_view encoded) {
  std::string path;
  path.reserve(encoded.size());
  for (size_t i = 0; i < encoded.size(); ++i) {
    const int high = encoded[i] == '%' && i + 2 < encoded.size() ? HexValue(encoded[i + 1]) : -1;
    const int low = high >= 0 ? HexValue(encoded[i + 2]) : -1;
    if (low >= 0) {
      path += static_cast<char>(high << 4 | low);
      i += 2;
    } else {
      path += encoded[i] == '\\' ? '/' : encoded[i];
    }
  }
  return path;
}

std::string NormalizePath(std::string_view path) {
  std::string normal;
  normal.reserve(path.size());
  for (const std::string_view name : NamesIn(path)) {
    if (name == "..") {
      normal.resize(normal.empty() ? 0 : normal.rfind('/'));
    } else {
      normal.append("/").append(name);
    }
  }
  return normal.empty() ? "/" : normal;
}

// Returns the path, still encoded, of "//host/path" or "/path", and refuses a host other than this machine.
Result<std::string_view> EncodedPathOf(std::string_view text, std::string_view after_scheme) {
  constexpr std::string_view separators = "/\\";
  if (after_scheme.find_first_of(separators) != 0) return BadPath(text, "not absolute");
  if (after_scheme.find_first_of(separators, 1) != 1) return after_scheme;

  const std::string_view rest = after_scheme.substr(2);
  const size_t host_end = std::min(rest.find_first_of(separators), rest.size());
  const std::string_view host = rest.substr(0, host_end);
  if (!host.empty() && !EqualsIgnoringCase(host, "localhost")) {
    return BadPath(text, fmt::format("host {} is not this machine", Quoted(host)), ErrorKind::kInvalidRequest);
  }
  return rest.substr(host_end);
}

Result<std::string> DecodeUri(std::string_view text, std::string_view scheme) {
  if (!EqualsIgnoringCase(scheme, "file")) {
    return BadPath(text, fmt::format("scheme {} is not file", Quoted(scheme)));
  }
  const size_t extra = text.find_first_of("?#");
  if (extra != std::string_view::npos) {
    return BadPath(text, text[extra] == '?' ? "query not allowed" : "fragment not allowed");
  }
  TRY(const std::string_view encoded, EncodedPathOf(text, text.substr(scheme.size() + 1)));
  return DecodeUriPath(encoded);
}

// Returns whether a byte of a path has to be escaped in a URI. These are the bytes that the WHATWG URL standard escapes
// in a path, and two more that its parser would not return unchanged: `%`, which starts an escape, and the backslash,
// which is read as a slash.
bool NeedsEscape(uint8_t byte) {
  if (byte <= 0x20 || byte >= 0x7f) return true;
  return std::string_view("\"#<>?^`{}%\\").contains(static_cast<char>(byte));
}

}  // namespace

Result<std::string> ParsePath(std::string_view text) {
  std::string path;
  if (text.starts_with('/')) {
    path = text;
  } else {
    const std::optional<std::string_view> scheme = SchemeOf(text);
    if (!scheme) return BadPath(text, "not absolute");
    TRY(path, DecodeUri(text, *scheme));
  }
  if (path.contains('\0')) return BadPath(text, "contains a nul byte");
  return NormalizePath(path);
}

std::string FileUri(std::string_view absolute_path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file://";
  uri.reserve(uri.size() + absolute_path.size());
  for (const char c : absolute_path) {
    const auto byte = static_cast<uint8_t>(c);
    if (NeedsEscape(byte)) {
      uri.append({'%', digits[byte >> 4], digits[byte & 15]});
    } else {
      uri += c;
    }
  }
  return uri;
}

}  // namespace holdfast
