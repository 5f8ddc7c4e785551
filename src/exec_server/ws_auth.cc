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

// What is said of a connection whose user is not found, because it has been closed say, does not matter: it is refused.
bool IsOfOwnUser(int socket) {
  const auto user = sys::UserOfTcpPeer(socket);
  return user && (*user == ::geteuid() || *user == 0);
}

}  // namespace

Result<transport::Admission> AdmissionFor(const transport::WebSocketUrl& url, const Config& config) {
  if (!url.loopback && !config.insecure_no_auth && config.ws_auth != kUrlSecret) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("{} is not a loopback address: anybody who reaches it could run commands; "
                            "--ws-auth url-secret asks for a secret, --insecure-no-auth for nothing",
                            config.listen));
  }
  if (AsksForSecret(url, config)) return transport::Admission{.secret = RandomSecret()};
  if (config.insecure_no_auth) return transport::Admission{};
  if (const auto works = sys::TryUserOfTcpPeer(); !works) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("{}: this machine does not tell which user connects ({}), so that any of them could run "
                            "commands; --ws-auth url-secret asks for a secret, --insecure-no-auth for nothing",
                            config.listen, works.error().message));
  }
  return transport::Admission{.admits = IsOfOwnUser};
}

Result<> CheckAuthWithoutPort(const Config& config) {
  if (config.ws_auth != kUrlSecret) return {};
  return Fail(ErrorKind::kInvalidRequest,
              fmt::format("--ws-auth {} needs a ws:// address to listen on, not {}", kUrlSecret, config.listen));
}

}  // namespace holdfast::exec_server
