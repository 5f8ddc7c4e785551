// The reasons for which a bearer token does not admit a client, and the texts that the client gets as the body of 401.
#pragma once

#include <expected>
#include <string_view>

namespace holdfast::auth {

enum class Refusal {
  kNoToken,
  kBadHeader,      // the Authorization header has another scheme or no token, or there are several of them
  kBadToken,       // another token than the capability token
  kBadJwt,         // not a well-formed JWT with a valid HS256 signature, or without `exp`
  kExpired,        // `exp` is over
  kNotYetValid,    // `nbf` is still to come
  kOtherIssuer,    // `iss` is not the issuer that is required
  kOtherAudience,  // `aud` does not contain the audience that is required
};

template <typename T = void>
using Checked = std::expected<T, Refusal>;

std::string_view TextOf(Refusal refusal);

}  // namespace holdfast::auth
