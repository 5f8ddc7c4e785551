#include "auth/jwt.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "auth/hmac.h"
#include "base/base64_url.h"
#include "base/random_id.h"
#include "wire/json.h"

namespace holdfast::auth {
namespace {

constexpr std::string_view kAlgorithm = "HS256";
constexpr double kMaxTime = 9'007'199'254'740'992;  // 2^53; beyond it a double leaves out whole numbers

struct Parts {
  std::string_view header, payload, signature;
  std::string_view signed_text;  // the header and the payload, as they are signed
};

std::optional<Parts> Split(std::string_view token) {
  const size_t first = token.find('.'), last = token.rfind('.');
  if (token.size() > kMaxJwtBytes || first == last) return std::nullopt;  // both are npos if there is no dot
  Parts parts{.header = token.substr(0, first),
              .payload = token.substr(first + 1, last - first - 1),
              .signature = token.substr(last + 1),
              .signed_text = token.substr(0, last)};
  if (parts.payload.contains('.')) return std::nullopt;
  return parts;
}

bool IsSigned(const Parts& parts, std::string_view secret) {
  const auto given = Base64UrlDecode(parts.signature);
  return given && IsSameSecret(*given, HmacSha256(parts.signed_text, secret));
}

bool HasOurAlgorithm(std::string_view header) {
  const auto text = Base64UrlDecode(header);
  if (!text) return false;
  wire::Document document;
  const auto json = document.Parse(*text);
  return json && json->is_object() && json->Find("alg").string() == kAlgorithm && json->Find("crit").is_absent();
}

// Each of these functions reads one claim, and returns false if it is of the wrong type. A claim that is absent is
// fine.
bool ReadTime(wire::Json claim, std::optional<double>& time) {
  if (claim.is_absent()) return true;
  double seconds = std::numeric_limits<double>::infinity();
  if (const auto whole = claim.int64()) {
    seconds = static_cast<double>(*whole);
  } else {
    const std::string_view text = claim.fraction();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size()) return false;
  }
  time = seconds;
  return std::abs(seconds) <= kMaxTime;
}

bool ReadIssuer(wire::Json claim, std::optional<std::string>& issuer) {
  if (claim.is_absent()) return true;
  issuer = claim.string();
  return issuer.has_value();
}

bool ReadAudiences(wire::Json claim, std::vector<std::string>& audiences) {
  if (claim.is_absent()) return true;
  if (const auto only = claim.string()) {
    audiences.emplace_back(*only);
    return true;
  }
  for (size_t i = 0; claim.is_array() && i < claim.size(); ++i) {
    const auto name = claim.at(i).string();
    if (!name) return false;
    audiences.emplace_back(*name);
  }
  return claim.is_array();
}

std::optional<JwtClaims> ClaimsIn(std::string_view payload) {
  const auto text = Base64UrlDecode(payload);
  if (!text) return std::nullopt;
  wire::Document document;
  const auto json = document.Parse(*text);
  if (!json || !json->is_object()) return std::nullopt;
  JwtClaims claims;
  const bool is_well_formed =
      ReadTime(json->Find("exp"), claims.expires) && ReadTime(json->Find("nbf"), claims.not_before) &&
      ReadIssuer(json->Find("iss"), claims.issuer) && ReadAudiences(json->Find("aud"), claims.audiences);
  if (!is_well_formed) return std::nullopt;
  return claims;
}

}  // namespace

std::optional<JwtClaims> VerifiedClaims(std::string_view token, std::string_view secret) {
  const auto parts = Split(token);
  if (!parts || !HasOurAlgorithm(parts->header) || !IsSigned(*parts, secret)) return std::nullopt;
  return ClaimsIn(parts->payload);
}

Checked<> SignedTokens::Check(std::string_view token, std::chrono::sys_seconds now) const {
  const auto claims = VerifiedClaims(token, secret);
  if (!claims || !claims->expires) return std::unexpected(Refusal::kBadJwt);
  const auto seconds = static_cast<double>(now.time_since_epoch().count());
  const auto skew = static_cast<double>(max_clock_skew.count());
  if (seconds > *claims->expires + skew) return std::unexpected(Refusal::kExpired);
  if (claims->not_before && seconds < *claims->not_before - skew) return std::unexpected(Refusal::kNotYetValid);
  if (!issuer.empty() && claims->issuer != issuer) return std::unexpected(Refusal::kOtherIssuer);
  if (!audience.empty() && std::ranges::find(claims->audiences, audience) == claims->audiences.end()) {
    return std::unexpected(Refusal::kOtherAudience);
  }
  return {};
}

}  // namespace holdfast::auth
