#include "exec_policy/network_hosts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/parse_number.h"

namespace holdfast::exec_policy {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\v\f";

std::unexpected<Error> Invalid(std::string_view what, std::string_view text, std::string_view reason) {
  return Fail(ErrorKind::kInvalidParams, fmt::format("the {} `{}` {}", what, text, reason));
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool IsPort(std::string_view text) { return ParseNumber<uint16_t>(text).has_value(); }

// Returns the host without brackets and port; nothing if these are not as they should be.
std::optional<std::string_view> WithoutPort(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view behind = host.substr(end + 1);
    if (!behind.empty() && !(behind.front() == ':' && IsPort(behind.substr(1)))) return std::nullopt;
    return host.substr(1, end - 1);
  }
  // An IPv6 address without brackets has several colons, and no port.
  const size_t colon = host.find(':');
  if (colon == std::string_view::npos || host.find(':', colon + 1) != std::string_view::npos) return host;
  if (!IsPort(host.substr(colon + 1))) return std::nullopt;
  return host.substr(0, colon);
}

Result<std::string> NormalHost(std::string_view text) {
  const std::string_view given = Trimmed(text);
  if (given.contains("://")) return Invalid("host", text, "has a scheme; write only the name of the host");
  if (given.find_first_of("/?#") != std::string_view::npos) return Invalid("host", text, "has a path");
  if (given.contains('*')) return Invalid("host", text, "has a wildcard; name each host");
  if (given.find_first_of(kBlanks) != std::string_view::npos) return Invalid("host", text, "has a blank in it");
  auto bare = WithoutPort(given);
  if (!bare) return Invalid("host", text, "is neither a name nor an address with a port");
  while (bare->ends_with('.')) bare->remove_suffix(1);
  if (bare->empty()) return Invalid("host", text, "is empty");
  if (bare->find_first_of("[]") != std::string_view::npos) return Invalid("host", text, "has a bracket in it");
  std::string host(*bare);
  std::ranges::transform(host, host.begin(), AsciiLower);
  return host;
}

Result<NetworkDecision> ParseDecision(std::string_view text) {
  if (text == "allow") return NetworkDecision::kAllow;
  if (text == "prompt") return NetworkDecision::kPrompt;
  if (text == "deny" || text == "forbidden") return NetworkDecision::kDeny;
  return Invalid("decision", text, "is none of allow, prompt, deny and forbidden");
}

}  // namespace

Result<NetworkRule> ParseNetworkRule(std::string_view host, std::string_view protocol, std::string_view decision) {
  constexpr std::array<std::string_view, 6> kProtocols = {"http",         "https",      "https_connect",
                                                          "http-connect", "socks5_tcp", "socks5_udp"};
  TRY(std::string normal_host, NormalHost(host));
  if (std::ranges::find(kProtocols, protocol) == kProtocols.end()) {
    return Invalid("protocol", protocol,
                   "is none of http, https, https_connect, http-connect, socks5_tcp and socks5_udp");
  }
  TRY(const NetworkDecision parsed, ParseDecision(decision));
  return NetworkRule{.host = std::move(normal_host), .decision = parsed};
}

NetworkHosts CompileNetworkRules(std::span<const NetworkRule> rules) {
  NetworkHosts hosts;
  std::unordered_set<std::string_view> seen;
  for (const NetworkRule& rule : std::views::reverse(rules)) {
    if (rule.decision == NetworkDecision::kPrompt || !seen.insert(rule.host).second) continue;
    (rule.decision == NetworkDecision::kAllow ? hosts.allowed : hosts.denied).push_back(rule.host);
  }
  std::ranges::reverse(hosts.allowed);
  std::ranges::reverse(hosts.denied);
  return hosts;
}

}  // namespace holdfast::exec_policy
