#include "transport/proxy.h"

#include <algorithm>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/environment_variable.h"
#include "base/percent.h"
#include "transport/socket_address.h"

namespace holdfast::transport {
namespace {

constexpr std::string_view kHttpScheme = "http://";

std::string Variable(const char* small, const char* capital) {
  const std::string value = EnvironmentVariable(small).value_or("");
  return value.empty() ? EnvironmentVariable(capital).value_or("") : value;
}

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), AsciiLower);
  return lowered;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Returns whether an entry of NO_PROXY stands for the host.
bool Covers(std::string_view entry, std::string_view host, uint16_t port) {
  if (entry == "*" || entry == host) return true;
  const std::string ending = fmt::format(":{}", port);
  if (entry.ends_with(ending)) entry.remove_suffix(ending.size());
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty()) return false;
  return host == entry || (host.ends_with(entry) && host[host.size() - entry.size() - 1] == '.');
}

bool IsExcepted(const std::string& none, const std::string& host, uint16_t port) {
  for (const auto part : none | std::views::split(',')) {
    const std::string entry = Lowered(Trimmed(std::string_view(part.begin(), part.end())));
    if (!entry.empty() && Covers(entry, host, port)) return true;
  }
  return false;
}

// The URL of a proxy has the form of a ws URL apart from its scheme and its credentials. The scheme is looked at first:
// credentials for a proxy that is to be reached by TLS must not be sent to it in clear. The message leaves them out.
Result<Proxy> ParseProxy(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with(kHttpScheme)) rest.remove_prefix(kHttpScheme.size());
  const bool has_other_scheme = rest.contains("://");
  Proxy proxy;
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    proxy.credentials = PercentDecoded(rest.substr(0, at));
    rest.remove_prefix(at + 1);
  }
  const auto parsed = has_other_scheme ? Result<ServerUrl>(UnixServer()) : ParseServerUrl(fmt::format("ws://{}", rest));
  const auto* place = parsed ? std::get_if<WebSocketServer>(&*parsed) : nullptr;
  if (place == nullptr || place->target != "/") {
    return Fail(ErrorKind::kInvalidParams, fmt::format("proxy '{}': write http://HOST:PORT", rest));
  }
  proxy.host = place->host;
  proxy.port = place->port;
  return proxy;
}

}  // namespace

ProxySettings ProxiesFromEnvironment() {
  const bool is_cgi = EnvironmentVariable("REQUEST_METHOD").has_value();
  return {.http = Variable("http_proxy", is_cgi ? "http_proxy" : "HTTP_PROXY"),
          .https = Variable("https_proxy", "HTTPS_PROXY"),
          .all = Variable("all_proxy", "ALL_PROXY"),
          .none = Variable("no_proxy", "NO_PROXY")};
}

Result<std::optional<Proxy>> ProxyFor(const ProxySettings& settings, const WebSocketServer& server) {
  const std::string& own = server.security == Security::kTls ? settings.https : settings.http;
  const std::string& chosen = own.empty() ? settings.all : own;
  const std::string host = Lowered(server.host);
  if (chosen.empty() || IsOnThisMachine(host) || IsExcepted(settings.none, host, server.port)) return std::nullopt;
  TRY(Proxy proxy, ParseProxy(Trimmed(chosen)));
  return proxy;
}

}  // namespace holdfast::transport
