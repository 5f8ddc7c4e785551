#include "rendezvous/config_check.h"

#include <variant>

#include <fmt/format.h>

#include "rendezvous/nats/nats_settings.h"
#include "rendezvous/public_url.h"

namespace holdfast::rendezvous {
namespace {

std::unexpected<Error> Mistake(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

Result<> CheckBus(const RendezvousConfig& config) {
  if (config.bus == "memory") {
    if (config.nats_credentials.empty()) return {};
    return Mistake("--nats-credentials needs a NATS server. Use --bus nats://HOST:PORT or --bus tls://HOST:PORT");
  }
  if (!config.bus.starts_with("nats://") && !config.bus.starts_with("tls://")) {
    return Mistake("--bus: expected memory, or a NATS server such as nats://HOST:4222");
  }
  TRY_VOID(CheckedUrls({.url = config.bus}));
  return {};
}

}  // namespace

Result<transport::WebSocketUrl> ListenAddressOf(const RendezvousConfig& config) {
  const auto url = transport::ParseListenUrl("ws://" + config.listen);
  if (!url || !std::holds_alternative<transport::WebSocketUrl>(*url)) {
    return Mistake(fmt::format("--listen {}: expected IP:PORT such as 127.0.0.1:8080", config.listen));
  }
  return std::get<transport::WebSocketUrl>(*url);
}

Result<> CheckConfig(const RendezvousConfig& config) {
  TRY_VOID(ListenAddressOf(config));
  TRY_VOID(CheckBus(config));
  if (!config.public_url.empty()) TRY_VOID(PublicUrl::Parse(config.public_url));
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return Mistake("TLS needs a certificate and its key. Use --tls-cert and --tls-key");
  }
  return {};
}

}  // namespace holdfast::rendezvous
