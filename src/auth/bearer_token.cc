#include "auth/bearer_token.h"

#include <algorithm>

#include "base/ascii.h"

namespace holdfast::auth {
namespace {

constexpr std::string_view kScheme = "bearer";
constexpr std::string_view kBlanks = " \t";

bool IsVisible(char c) { return c > ' ' && c < 0x7f; }

std::string_view Trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

Checked<std::string_view> BearerTokenOf(std::span<const std::string_view> headers) {
  if (headers.empty()) return std::unexpected(Refusal::kNoToken);
  if (headers.size() > 1) return std::unexpected(Refusal::kBadHeader);
  const std::string_view header = Trimmed(headers.front());
  const std::string_view scheme = header.substr(0, header.find_first_of(kBlanks));
  const std::string_view token = Trimmed(header.substr(scheme.size()));
  const bool is_bearer = std::ranges::equal(scheme, kScheme, {}, AsciiLower);
  if (!is_bearer || token.empty() || !std::ranges::all_of(token, IsVisible)) {
    return std::unexpected(Refusal::kBadHeader);
  }
  return token;
}

}  // namespace holdfast::auth
