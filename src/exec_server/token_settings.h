// The settings of bearer tokens, and the check that they fit together.
#pragma once

#include "base/result.h"
#include "exec_server/config/config.h"

namespace holdfast::exec_server {

// The values of `ws_auth` with which clients have to bring a bearer token.
inline constexpr const char* kCapabilityToken = "capability-token";
inline constexpr const char* kSignedBearerToken = "signed-bearer-token";

bool AsksForToken(const Config& config);

// Fails if a setting of one kind of token is there and `ws_auth` asks for another kind or for none, if `ws_auth` asks
// for a token and no setting tells which, or if two settings tell it.
Result<> CheckTokenSettings(const Config& config);

}  // namespace holdfast::exec_server
