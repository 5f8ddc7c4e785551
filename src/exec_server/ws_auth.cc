#include "exec_server/ws_auth.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/random_id.h"
#include "sys/peer.h"

namespace holdfast::exec_server {
namespace {

constexpr const char* kUrlSecret = "url-secret";

bool AsksForSecret(const transport::WebSocketUrl& url, const Config& config) {
  if (config.ws_auth == "auto") return url.port == 0 && !config.insecure_no_auth;
  return config.ws_auth == kUrlSecret;
}

// Returns whether the peer is a process of the server's user or of root. A connection whose user cannot be found, for
// example because it is closed already, is not admitted.
bool IsOfOwnUser(int socket) {
  const auto user = sys::UserOfTcpPeer(socket);
  return user && (*user == ::geteuid() || *user == 0);
}

}  // namespace

Result<transport::Authorizer> AuthorizerFor(const transport::WebSocketUrl& url, const Config& config) {
  if (!url.loopback && !config.insecure_no_auth && config.ws_auth != kUrlSecret) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("{} is not a loopback address, so anybody who reaches it could run commands. Use --ws-auth "
                            "url-secret to require a secret, or --insecure-no-auth to let everybody in",
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
  return transport::Authorizer{.admits = IsOfOwnUser};
}

Result<> CheckAuthWithoutPort(const Config& config) {
  if (config.ws_auth != kUrlSecret) return {};
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("--ws-auth {} needs a ws:// address to listen on, not {}", kUrlSecret, config.listen));
}

}  // namespace holdfast::exec_server
