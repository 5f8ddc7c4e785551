// Signed bearer tokens are JWTs that anyone with the shared secret can issue, each for a limited time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "auth/refusal.h"

namespace holdfast::auth {

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
