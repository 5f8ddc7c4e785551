#include "exec_server/ws_auth.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/random_id.h"
#include "exec_server/token_auth.h"
#include "sys/peer.h"

namespace holdfast::exec_server {
namespace {

constexpr const char* kUrlSecret = "url-secret";

bool AsksForSecret(const transport::WebSocketUrl& url, const Config& config) {
  if (config.ws_auth == "auto") return url.port == 0 && !config.insecure_no_auth;
  return config.ws_auth == kUrlSecret;
}

// Admits processes of the server's user and of root. A connection whose user cannot be found, for example because it is
// closed already, is not admitted.
std::optional<transport::HttpRefusal> RefuseOtherUsers(const transport::Credentials& credentials) {
  const auto user = sys::UserOfTcpPeer(credentials.socket);
  if (user && (*user == ::geteuid() || *user == 0)) return std::nullopt;
  return transport::HttpRefusal{.status = transport::HttpRefusal::Status::kForbidden,
                                .body = "only processes of the server's user or of root are served\n"};
}

}  // namespace

Result<transport::Authorizer> AuthorizerFor(const transport::WebSocketUrl& url, const Config& config,
                                            const std::shared_ptr<TokenAuth>& tokens) {
  if (tokens) {
    return transport::Authorizer{
        .refuse = [tokens](const transport::Credentials& credentials) { return tokens->Refuse(credentials); }};
  }
  if (!url.loopback && !config.insecure_no_auth && config.ws_auth != kUrlSecret) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("{} is not a loopback address, so anybody who reaches it could run commands. Use --ws-auth "
                            "capability-token or signed-bearer-token to require a token, --ws-auth url-secret to "
                            "require a secret in the URL, or --insecure-no-auth to let everybody in",
                            config.listen));
  }
  if (AsksForSecret(url, config)) return transport::Authorizer{.secret = RandomSecret()};
  if (config.insecure_no_auth) return transport::Authorizer{};
  if (const auto works = sys::TryUserOfTcpPeer(); !works) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("{}: the server cannot find out which user a connection comes from ({}), so any user of "
                            "this machine could run commands. Use --ws-auth url-secret to require a secret, or "
                            "--insecure-no-auth to let everybody in",
                            config.listen, works.error().message));
  }
  return transport::Authorizer{.refuse = RefuseOtherUsers};
}

Result<> CheckAuthWithoutPort(const Config& config) {
  if (config.ws_auth == kUrlSecret || AsksForToken(config)) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("--ws-auth {} needs a ws:// address to listen on, not {}", config.ws_auth, config.listen));
  }
  return CheckTokenSettings(config);
}

}  // namespace holdfast::exec_server
