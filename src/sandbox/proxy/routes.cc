#include "sandbox/proxy/routes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace holdfast::sandbox {
namespace {

// The variables in which tools look for a proxy. An environment may write them in any mix of upper and lower case.
constexpr std::array<std::string_view, 16> kVariables = {"http_proxy",
                                                         "https_proxy",
                                                         "ws_proxy",
                                                         "wss_proxy",
                                                         "all_proxy",
                                                         "ftp_proxy",
                                                         "yarn_http_proxy",
                                                         "yarn_https_proxy",
                                                         "npm_config_proxy",
                                                         "npm_config_http_proxy",
                                                         "npm_config_https_proxy",
                                                         "bundle_http_proxy",
                                                         "bundle_https_proxy",
                                                         "pip_proxy",
                                                         "docker_http_proxy",
                                                         "docker_https_proxy"};

constexpr uint16_t kDefaultPort = 80, kDefaultHttpsPort = 443, kDefaultSocksPort = 1080;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return Lower(c); });
  return lower;
}

bool NamesProxy(std::string_view variable) {
  return std::ranges::find(kVariables, Lower(variable)) != kVariables.end();
}

// Returns whether `ports`, which are in rising order, have this port. An empty list allows all ports.
bool IsAllowed(uint16_t port, std::span<const uint16_t> ports) {
  return ports.empty() || std::ranges::binary_search(ports, port);
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

bool IsScheme(std::string_view text) {
  const auto letter = [](char c) { return Lower(c) >= 'a' && Lower(c) <= 'z'; };
  const auto other = [](char c) { return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && letter(text[0]) && std::ranges::all_of(text, [&](char c) { return letter(c) || other(c); });
}

uint16_t DefaultPort(std::string_view scheme) {
  const std::string lower = Lower(scheme);
  if (lower == "https") return kDefaultHttpsPort;
  return lower.starts_with("socks") ? kDefaultSocksPort : kDefaultPort;
}

std::optional<uint16_t> Port(std::string_view text) {
  const auto port = ParseNumber<uint16_t>(text);
  return port && *port != 0 ? port : std::nullopt;
}

std::optional<LoopbackHost> Host(std::string_view text) {
  if (Lower(text) == "localhost") return LoopbackHost::kLocalhost;
  if (text == "127.0.0.1") return LoopbackHost::kIpv4;
  if (text == "[::1]") return LoopbackHost::kIpv6;
  return std::nullopt;
}

// Returns the length of the host at the beginning of `place`. The colons of an address in brackets belong to the host.
size_t HostSize(std::string_view place) {
  if (!place.starts_with('[')) return std::min(place.find(':'), place.size());
  return std::min(place.find(']'), place.size() - 1) + 1;
}

std::optional<ProxyEndpoint> Endpoint(std::string_view place, std::string_view scheme) {
  const std::string_view host = place.substr(0, HostSize(place));
  std::string_view rest = place.substr(host.size());
  if (rest == ":") rest = {};
  if (!rest.empty() && rest[0] != ':') return std::nullopt;
  const auto found = Host(host);
  const auto port = rest.empty() ? DefaultPort(scheme) : Port(rest.substr(1));
  if (!found || !port) return std::nullopt;
  return ProxyEndpoint{.host = *found, .port = *port};
}

struct Value {
  ProxyEndpoint endpoint;
  std::string_view before, after;
};

// The value has the form [scheme://][user[:password]@]host[:port][anything after / ? #].
//
// A backslash is refused: some tools read it as a slash and others as a letter, and they would disagree about the host.
std::optional<Value> Parse(std::string_view text) {
  const std::string_view scheme = text.substr(0, text.find("://"));
  const bool has_scheme = scheme.size() < text.size() && IsScheme(scheme);
  const size_t begin = has_scheme ? scheme.size() + 3 : 0;
  const std::string_view authority = text.substr(begin, text.find_first_of("/?#", begin) - begin);
  if (authority.contains('\\')) return std::nullopt;
  const std::string_view place = authority.substr(authority.rfind('@') + 1);
  const auto endpoint = Endpoint(place, has_scheme ? scheme : "");
  if (!endpoint) return std::nullopt;
  const size_t place_begin = begin + authority.size() - place.size();
  return Value{*endpoint, text.substr(0, place_begin), text.substr(place_begin + place.size())};
}

uint32_t IndexOf(std::vector<ProxyEndpoint>& endpoints, const ProxyEndpoint& endpoint) {
  const auto found = std::ranges::find(endpoints, endpoint);
  const auto index = static_cast<uint32_t>(found - endpoints.begin());
  if (found == endpoints.end()) endpoints.push_back(endpoint);
  return index;
}

}  // namespace

Result<ProxyRoutes> FindProxyRoutes(const char* const* environment, std::span<const uint16_t> ports) {
  ProxyRoutes routes;
  bool any_set = false;
  std::vector<uint16_t> sorted_ports(ports.begin(), ports.end());
  std::ranges::sort(sorted_ports);
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name.size() == entry.size() || !NamesProxy(name)) continue;
    const std::string_view text = Trim(entry.substr(name.size() + 1));
    any_set |= !text.empty();
    const auto value = Parse(text);
    if (!value || !IsAllowed(value->endpoint.port, sorted_ports)) continue;
    routes.variables.push_back({.name = std::string(name),
                                .before = std::string(value->before),
                                .after = std::string(value->after),
                                .endpoint = IndexOf(routes.endpoints, value->endpoint)});
    // The limit is checked in the loop, because each variable searches the endpoints, and an environment may have very
    // many variables.
    if (routes.endpoints.size() > kMaxProxyEndpoints) {
      return Fail(ErrorKind::kLimit, "managed proxy mode: the environment names too many proxies");
    }
  }
  if (!any_set) {
    return Fail(ErrorKind::kInvalidRequest, "managed proxy mode requires proxy environment variables");
  }
  if (routes.endpoints.empty() && ports.empty()) {
    return Fail(ErrorKind::kInvalidRequest, "managed proxy mode requires parseable loopback proxy endpoints");
  }
  if (routes.endpoints.empty()) {
    return Fail(ErrorKind::kInvalidRequest,
                "no proxy variable names a loopback address and one of the ports that may be reached");
  }
  return routes;
}

std::string ValueInside(const ProxyVariable& variable, uint16_t port) {
  return fmt::format("{}127.0.0.1:{}{}", variable.before, port, variable.after);
}

}  // namespace holdfast::sandbox
