#include "transport/dial_url.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "transport/socket_address.h"
#include "transport/unix_place.h"

namespace holdfast::transport {
namespace {

constexpr std::string_view kUnixScheme = "unix://";

struct WebSocketScheme {
  std::string_view prefix;
  Security security;
  uint16_t usual_port;
};
constexpr WebSocketScheme kWebSocketSchemes[] = {{"ws://", Security::kPlain, 80},
                                                 {"wss://", Security::kTls, 443},
                                                 {"http://", Security::kPlain, 80},
                                                 {"https://", Security::kTls, 443}};

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool IsTargetCharacter(char c) { return c > ' ' && c < 0x7f && c != '#'; }

// Returns the host without the brackets of an IPv6 address, and nothing for a text that is neither a name nor an
// address.
std::optional<std::string> ParseHost(std::string_view text) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return std::nullopt;
    std::string ip(text.substr(1, text.size() - 2));
    return ip.contains(':') && TcpAddress(ip, 0) ? std::optional(std::move(ip)) : std::nullopt;
  }
  if (text.empty() || !std::ranges::all_of(text, IsNameCharacter)) return std::nullopt;
  return std::string(text);
}

std::optional<WebSocketServer> ParseWebSocket(const WebSocketScheme& scheme, std::string_view rest) {
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  const std::string_view target = rest.substr(authority.size());
  if (!std::ranges::all_of(target, IsTargetCharacter)) return std::nullopt;
  const size_t host_end = authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  const std::string_view port = host_end < authority.size() ? authority.substr(host_end) : "";
  const auto host = ParseHost(authority.substr(0, host_end));
  if (!host || (!port.empty() && !port.starts_with(':'))) return std::nullopt;
  const auto number = port.empty() ? scheme.usual_port : ParseNumber<uint16_t>(port.substr(1));
  if (!number || *number == 0) return std::nullopt;
  return WebSocketServer{.security = scheme.security,
                         .host = *host,
                         .port = *number,
                         .target = target.starts_with('/') ? std::string(target) : fmt::format("/{}", target)};
}

// Returns the part of a refused address that a message may show: its path may be a secret, and a name before an `@` may
// come with a password.
std::string WithoutSecrets(std::string_view text) {
  const size_t mark = text.find("://");
  const std::string_view scheme = text.substr(0, mark == std::string_view::npos ? 0 : mark + 3);
  const std::string_view rest = text.substr(scheme.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::string_view place = authority.substr(authority.rfind('@') + 1);
  return fmt::format("{}{}{}", scheme, place, authority.size() < rest.size() ? "/..." : "");
}

Result<ServerUrl> ParseUnix(std::string_view text) {
  const std::string_view path = text.substr(kUnixScheme.size());
  if (!path.starts_with('/') || path.contains('\0')) {
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("server address '{}': the socket path is not absolute (unix:///run/x.sock)", text));
  }
  if (const auto fits = CheckUnixPath(path); !fits) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("server address '{}': {}", text, fits.error().message));
  }
  return UnixServer{std::string(path)};
}

}  // namespace

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  if (text.starts_with(kUnixScheme)) return ParseUnix(text);
  for (const WebSocketScheme& scheme : kWebSocketSchemes) {
    if (!text.starts_with(scheme.prefix)) continue;
    if (auto server = ParseWebSocket(scheme, text.substr(scheme.prefix.size()))) return *std::move(server);
    return Fail(ErrorKind::kInvalidParams,
                fmt::format("server address '{}': write {}HOST:PORT, with a path if the server has one",
                            WithoutSecrets(text), scheme.prefix));
  }
  return Fail(
      ErrorKind::kInvalidParams,
      fmt::format(
          "server address '{}': not one of ws://HOST:PORT, wss://HOST:PORT, http://HOST, https://HOST, unix:///PATH",
          WithoutSecrets(text)));
}

std::string NameOf(const ServerUrl& url) {
  if (const auto* socket = std::get_if<UnixServer>(&url)) return socket->path;
  const auto& server = std::get<WebSocketServer>(url);
  return HostAndPort(server.host, server.port);
}

bool IsOnThisMachine(std::string_view host) {
  std::string name(host);
  std::ranges::transform(name, name.begin(), AsciiLower);
  if (const auto address = TcpAddress(name, 0)) return IsLoopback(*address);
  return name == "localhost" || name.ends_with(".localhost");
}

bool IsReadableOnTheWay(const ServerUrl& url) {
  const auto* server = std::get_if<WebSocketServer>(&url);
  return server != nullptr && server->security == Security::kPlain && !IsOnThisMachine(server->host);
}

}  // namespace holdfast::transport
