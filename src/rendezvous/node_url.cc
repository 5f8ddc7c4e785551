#include "rendezvous/node_url.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "transport/dial_url.h"
#include "transport/socket_address.h"

namespace holdfast::rendezvous {
namespace {

std::unexpected<Error> Mistake(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

std::string UrlOf(const RendezvousConfig& config, const std::string& ip, uint16_t port) {
  return fmt::format("{}://{}", config.tls_cert.empty() ? "http" : "https", transport::HostAndPort(ip, port));
}

Result<std::string> Allowed(const RendezvousConfig& config, std::string text) {
  const auto url = transport::ParseServerUrl(text);
  const auto* const server = url ? std::get_if<transport::WebSocketServer>(&*url) : nullptr;
  if (server == nullptr || !text.starts_with("http") || server->target.contains('?')) {
    return Mistake("--advertise: expected an http or https URL such as https://rv-1.example.org:8070");
  }
  if (config.insecure_node_http || !transport::IsReadableOnTheWay(*url)) return text;
  return Mistake(
      fmt::format("the other nodes would dial this one at {}, and others could read what is sent. Use "
                  "--tls-cert and --tls-key, --advertise https://HOST:PORT, or --insecure-node-http",
                  text));
}

bool IsEveryAddress(const std::string& ip) { return ip == "0.0.0.0" || ip == "::"; }

}  // namespace

Result<transport::WebSocketUrl> ListenAddressOf(const RendezvousConfig& config) {
  const auto url = transport::ParseListenUrl("ws://" + config.listen);
  if (!url || !std::holds_alternative<transport::WebSocketUrl>(*url)) {
    return Mistake(fmt::format("--listen {}: expected IP:PORT such as 127.0.0.1:8080", config.listen));
  }
  return std::get<transport::WebSocketUrl>(*url);
}

Result<> CheckNodeUrl(const RendezvousConfig& config) {
  constexpr uint16_t kAnyPort = 1;
  TRY(const transport::WebSocketUrl listen, ListenAddressOf(config));
  if (config.bus == "memory") {
    if (config.advertise.empty() && !config.insecure_node_http) return {};
    return Mistake("--advertise and --insecure-node-http need other nodes. Use --bus nats://HOST:PORT");
  }
  if (config.advertise.empty() && IsEveryAddress(listen.ip)) return {};
  TRY_VOID(Allowed(config, config.advertise.empty() ? UrlOf(config, listen.ip, kAnyPort) : config.advertise));
  return {};
}

decltype(NatsSettings::node_url) NodeUrl(const RendezvousConfig& config, uint16_t port) {
  return [config, port](const NatsSettings::AddressSeen& seen) -> Result<std::string> {
    if (!config.advertise.empty()) return config.advertise;
    TRY(const transport::WebSocketUrl listen, ListenAddressOf(config));
    if (!IsEveryAddress(listen.ip)) return Allowed(config, UrlOf(config, listen.ip, port));
    TRY(const std::string ip, seen());
    return Allowed(config, UrlOf(config, ip, port));
  };
}

}  // namespace holdfast::rendezvous
