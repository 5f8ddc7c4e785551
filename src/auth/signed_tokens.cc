#include "auth/signed_tokens.h"

#include <algorithm>

#include "auth/jwt.h"

namespace holdfast::auth {

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
