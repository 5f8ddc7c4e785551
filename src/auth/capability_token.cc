#include "auth/capability_token.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/random_id.h"
#include "base/sha256.h"

namespace holdfast::auth {
namespace {

constexpr size_t kDigestDigits = 64;

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'f'); }

}  // namespace

CapabilityToken CapabilityToken::OfText(std::string_view token) { return CapabilityToken(Sha256Hex(token)); }

Result<CapabilityToken> CapabilityToken::OfDigest(std::string_view hex) {
  if (hex.size() != kDigestDigits || !std::ranges::all_of(hex, IsHexDigit)) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("a SHA-256 digest has {} hexadecimal digits, this text is another one", kDigestDigits));
  }
  std::string digest(hex);
  std::ranges::transform(digest, digest.begin(), AsciiLower);
  return CapabilityToken(std::move(digest));
}

Checked<> CapabilityToken::Check(std::string_view given) const {
  if (!IsSameSecret(Sha256Hex(given), digest_)) return std::unexpected(Refusal::kBadToken);
  return {};
}

}  // namespace holdfast::auth
