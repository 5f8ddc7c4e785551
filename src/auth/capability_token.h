// A capability token admits every client that has it. The server needs only the SHA-256 digest of the token.
#pragma once

#include <string>
#include <string_view>

#include "auth/refusal.h"
#include "base/result.h"

namespace holdfast::auth {

class CapabilityToken {
 public:
  static CapabilityToken OfText(std::string_view token);

  // Fails unless the digest has 64 hexadecimal digits, in any case.
  static Result<CapabilityToken> OfDigest(std::string_view hex);

  // The digests are compared, so the time that this takes reveals nothing about the token.
  Checked<> Check(std::string_view given) const;

 private:
  explicit CapabilityToken(std::string digest) : digest_(std::move(digest)) {}

  std::string digest_;  // in lower-case hexadecimal digits
};

}  // namespace holdfast::auth
