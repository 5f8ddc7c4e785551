#include "auth/refusal.h"

namespace holdfast::auth {

std::string_view TextOf(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNoToken:
      return "missing websocket bearer token";
    case Refusal::kBadHeader:
      return "invalid authorization header";
    case Refusal::kBadToken:
      return "invalid websocket bearer token";
    case Refusal::kBadJwt:
      return "invalid websocket jwt";
    case Refusal::kExpired:
      return "expired websocket jwt";
    case Refusal::kNotYetValid:
      return "websocket jwt is not valid yet";
    case Refusal::kOtherIssuer:
      return "websocket jwt issuer mismatch";
    case Refusal::kOtherAudience:
      return "websocket jwt audience mismatch";
  }
  return "";
}

}  // namespace holdfast::auth
