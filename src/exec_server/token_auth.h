// TokenAuth admits clients by the bearer token of their request, as `ws_auth` "capability-token" and
// "signed-bearer-token" ask for. It limits the failed attempts of each address and logs them, without the tokens.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "auth/attempt_limit.h"
#include "auth/capability_token.h"
#include "auth/jwt.h"
#include "base/result.h"
#include "exec_server/config/config.h"
#include "transport/authorizer.h"

namespace holdfast::exec_server {

// The settings of bearer tokens, and the check that they fit together.

// The values of `ws_auth` with which clients have to bring a bearer token.
inline constexpr const char* kCapabilityToken = "capability-token";
inline constexpr const char* kSignedBearerToken = "signed-bearer-token";

bool AsksForToken(const Config& config);

// Fails if a setting of one kind of token is there and `ws_auth` asks for another kind or for none, if `ws_auth` asks
// for a token and no setting says which, or if two settings say it.
Result<> CheckTokenSettings(const Config& config);

class TokenAuth {
 public:
  // Reads the file that the settings name. Returns null if they ask for no token. `config` must outlive the object.
  static Result<std::shared_ptr<TokenAuth>> Create(const Config& config);

  // Returns why the peer is not admitted; nothing if it is. An address with too many failures has to wait. On loopback
  // only failures are answered in that way, and a valid token is still admitted: all processes of the machine have the
  // same address there, and a sandboxed command must not be able to shut out the others.
  std::optional<transport::HttpRefusal> Refuse(const transport::Credentials& credentials);

  // Reads the file again and logs the outcome. If it cannot be used, the token or secret that was read before stays.
  void Reload();

  // The file with the token or the shared secret; empty if the settings have only a digest.
  const std::string& file() const;

  // The token or the shared secret, which no sandboxed command may get. It is empty if it is not known, or so short
  // that ordinary text may contain it.
  std::string secret() const;

 private:
  // The rules that a token is checked by, and the secret that they were made from.
  struct Rules {
    std::variant<auth::CapabilityToken, auth::SignedTokens> check;
    std::string secret = {};
  };

  TokenAuth(const Config& config, Rules rules) : config_(config), rules_(std::move(rules)) {}
  static Result<Rules> ReadRules(const Config& config);
  auth::Checked<> Check(const transport::Credentials& credentials) const;

  const Config& config_;
  Rules rules_;
  auth::AttemptLimit limit_;
};

}  // namespace holdfast::exec_server
