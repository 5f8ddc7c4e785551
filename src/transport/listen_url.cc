#include "transport/listen_url.h"

#include <arpa/inet.h>

#include <optional>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "transport/unix_place.h"

namespace holdfast::transport {
namespace {

constexpr std::string_view kWebSocketScheme = "ws://";
constexpr std::string_view kTlsScheme = "wss://";
constexpr std::string_view kUnixScheme = "unix://";

// Only literal addresses are accepted: a name could resolve to an address that the operator did not mean to expose.
std::optional<WebSocketUrl> ParseIpv4(std::string ip, uint16_t port) {
  in_addr address{};
  if (::inet_pton(AF_INET, ip.c_str(), &address) != 1) return std::nullopt;
  const bool loopback = (ntohl(address.s_addr) >> 24) == 127;
  return WebSocketUrl{.ip = std::move(ip), .port = port, .loopback = loopback};
}

std::optional<WebSocketUrl> ParseIpv6(std::string ip, uint16_t port) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, ip.c_str(), &address) != 1) return std::nullopt;
  const bool loopback = IN6_IS_ADDR_LOOPBACK(&address);
  return WebSocketUrl{.ip = std::move(ip), .port = port, .loopback = loopback};
}

std::optional<WebSocketUrl> ParseSocketAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.contains('\0')) return std::nullopt;
  const std::string_view host = text.substr(0, colon);
  const std::optional<uint16_t> port = ParseNumber<uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  if (!host.starts_with('[')) return ParseIpv4(std::string(host), *port);
  if (!host.ends_with(']')) return std::nullopt;
  return ParseIpv6(std::string(host.substr(1, host.size() - 2)), *port);
}

using Parsed = std::expected<ListenUrl, ListenUrlError>;
using Kind = ListenUrlError::Kind;

std::unexpected<ListenUrlError> Refuse(Kind kind, std::string_view text, std::string_view reason) {
  return std::unexpected(ListenUrlError{kind, fmt::format("listen address '{}': {}", text, reason)});
}

Parsed ParseWebSocket(std::string_view text, std::string_view scheme, Security security) {
  auto url = ParseSocketAddress(text.substr(scheme.size()));
  if (!url) {
    return Refuse(Kind::kNoSocketAddress, text,
                  fmt::format("write {}IP:PORT with a literal IP address and no path", scheme));
  }
  url->security = security;
  return *std::move(url);
}

Parsed ParseUnix(std::string_view text) {
  const std::string_view path = text.substr(kUnixScheme.size());
  if (!path.starts_with('/') || path.contains('\0')) {
    return Refuse(Kind::kNoAbsolutePath, text, "the socket path is not absolute (unix:///run/x.sock)");
  }
  if (const auto fits = CheckUnixPath(path); !fits) return Refuse(Kind::kPathTooLong, text, fits.error().message);
  return UnixUrl{std::string(path)};
}

}  // namespace

Parsed ParseListenUrl(std::string_view text) {
  if (text == "stdio" || text == "stdio://") return StdioUrl{};
  if (text.starts_with(kWebSocketScheme)) return ParseWebSocket(text, kWebSocketScheme, Security::kPlain);
  if (text.starts_with(kTlsScheme)) return ParseWebSocket(text, kTlsScheme, Security::kTls);
  if (text.starts_with(kUnixScheme)) return ParseUnix(text);
  return Refuse(Kind::kUnknownScheme, text, "not one of ws://IP:PORT, wss://IP:PORT, unix:///PATH, stdio");
}

}  // namespace holdfast::transport
