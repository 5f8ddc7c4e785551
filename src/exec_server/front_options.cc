#include "exec_server/front_options.h"

#include <optional>

#include <fmt/format.h>

#include "auth/secret_file.h"
#include "exec_server/ws_auth.h"

namespace holdfast::exec_server {
namespace {

bool AsksForTls(const Config& config) { return !config.tls_cert.empty() || !config.tls_key.empty(); }

Result<std::optional<transport::TlsContext>> TlsFor(const transport::WebSocketUrl& url, const Config& config) {
  if (!AsksForTls(config) && url.security == transport::Security::kPlain) return std::nullopt;
  if (config.tls_cert.empty() || config.tls_key.empty()) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("{}: TLS needs a certificate and its key. Use --tls-cert and --tls-key", config.listen));
  }
  TRY(auto context, transport::TlsContext::ForServer(config.tls_cert, config.tls_key));
  auth::WarnOfReadableKey(config.tls_key);
  return context;
}

}  // namespace

transport::HttpRoutes ServerRoutes() {
  using transport::HttpRoute;
  return {
      {.path = "/", .kind = HttpRoute::Kind::kWebSocket},
      {.path = "/readyz", .kind = HttpRoute::Kind::kProbe, .access = HttpRoute::Access::kEveryone},
      {.path = "/healthz", .kind = HttpRoute::Kind::kProbe, .access = HttpRoute::Access::kEveryone},
  };
}

Result<transport::HttpFrontOptions> FrontOptionsFor(const transport::WebSocketUrl& url, const Config& config,
                                                    const std::shared_ptr<TokenAuth>& tokens) {
  TRY(auto authorizer, AuthorizerFor(url, config, tokens));
  TRY(auto tls, TlsFor(url, config));
  return transport::HttpFrontOptions{
      .routes = ServerRoutes(), .authorizer = std::move(authorizer), .tls = std::move(tls)};
}

Result<> CheckTlsWithoutPort(const Config& config) {
  if (!AsksForTls(config)) return {};
  return Fail(ErrorKind::kInvalidParams,
              fmt::format("--tls-cert and --tls-key need an address with a port to listen on, not {}", config.listen));
}

}  // namespace holdfast::exec_server
