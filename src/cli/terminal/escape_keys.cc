#include "cli/terminal/escape_keys.h"

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

// Returns the character that a terminal sends for Ctrl with another character.
std::optional<char> ControlCharacter(char c) {
  if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  if (c < '@' || c > '_') return std::nullopt;
  return static_cast<char>(c & 0x1f);
}

}  // namespace

Result<EscapeKeys> EscapeKeys::Parse(std::string_view key) {
  if (key == "none") return EscapeKeys(std::nullopt);
  for (const std::string_view prefix : {"ctrl-", "Ctrl-", "^"}) {
    if (!key.starts_with(prefix) || key.size() != prefix.size() + 1) continue;
    if (const auto character = ControlCharacter(key.back())) return EscapeKeys(character);
  }
  return Fail(ErrorKind::kInvalidParams, fmt::format("\"{}\" is not a key; write it as ctrl-], or none", key));
}

EscapeKeys::Typed EscapeKeys::Take(std::string_view bytes) {
  Typed typed{.bytes = {}, .action = std::nullopt, .rest = {}};
  if (!escape_) {
    typed.bytes = bytes;
    return typed;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (!escaped_) {
      escaped_ = c == *escape_;
      if (!escaped_) typed.bytes += c;
      continue;
    }
    escaped_ = false;
    if (c == 'd' || c == 'z') {
      typed.action = c == 'd' ? Action::kDetach : Action::kStop;
      typed.rest = bytes.substr(i + 1);
      return typed;
    }
    typed.bytes += *escape_;
    if (c != *escape_) typed.bytes += c;
  }
  return typed;
}

}  // namespace holdfast::cli
