#include "rendezvous/config_check.h"

#include <string>
#include <utility>

#include "rendezvous/nats/nats_settings.h"
#include "rendezvous/node_url.h"
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

Result<> CheckConfig(const RendezvousConfig& config) {
  TRY_VOID(ListenAddressOf(config));
  TRY_VOID(CheckBus(config));
  TRY_VOID(CheckNodeUrl(config));
  if (!config.public_url.empty()) TRY_VOID(PublicUrl::Parse(config.public_url));
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return Mistake("TLS needs a certificate and its key. Use --tls-cert and --tls-key");
  }
  return {};
}

}  // namespace holdfast::rendezvous
