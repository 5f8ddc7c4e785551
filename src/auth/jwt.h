// A JWT in its compact form (RFC 7519), signed with HMAC-SHA-256. No other algorithm is accepted, because a token must
// not choose how it is checked.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/refusal.h"

namespace holdfast::auth {

// Longer tokens are refused before anything of them is decoded.
inline constexpr size_t kMaxJwtBytes = 6u << 10;

// The claims of a token that are looked at. A time is in seconds since 1970, and may have a fraction.
struct JwtClaims {
  std::optional<double> expires;
  std::optional<double> not_before;
  std::optional<std::string> issuer;
  std::vector<std::string> audiences;

  friend bool operator==(const JwtClaims&, const JwtClaims&) = default;
};

// Returns the claims if the signature was made with `secret`. The claims of another token are not even parsed. Returns
// nothing also for a token that is malformed in any way: padding or other characters in its base64url, a JSON object
// with a repeated member, a claim of the wrong type, a time beyond 2^53, or a `crit` header, which names extensions
// that the reader has to know.
std::optional<JwtClaims> VerifiedClaims(std::string_view token, std::string_view secret);

// Signed bearer tokens are JWTs that anyone with the shared secret can issue, each for a limited time.

// A shorter secret could be guessed from one token.
inline constexpr size_t kMinSharedSecretBytes = 32;

struct SignedTokens {
  std::string secret;
  std::string issuer = {};    // the `iss` that a token must have; empty: any or none
  std::string audience = {};  // the name that its `aud` must contain; empty: any or none
  std::chrono::seconds max_clock_skew{30};

  // A token is valid from `nbf` to `exp`, and at both ends for the clock skew longer. `exp` is required.
  Checked<> Check(std::string_view token, std::chrono::sys_seconds now) const;
};

}  // namespace holdfast::auth
