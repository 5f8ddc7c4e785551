#include "base/base64_url.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/base64.h"

namespace holdfast {

// The standard alphabet differs in two characters, and its texts are padded.
std::string Base64UrlEncode(std::string_view bytes) {
  std::string text = Base64Encode(std::as_bytes(std::span(bytes)));
  text.resize(text.find_last_not_of('=') + 1);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> Base64UrlDecode(std::string_view text) {
  if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
  std::string standard(text);
  std::ranges::replace(standard, '-', '+');
  std::ranges::replace(standard, '_', '/');
  standard.append((4 - standard.size() % 4) % 4, '=');
  auto bytes = Base64Decode(standard);
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

}  // namespace holdfast
