// The hosts that network_rule() allows and denies.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::exec_policy {

enum class NetworkDecision { kAllow, kPrompt, kDeny };

struct NetworkRule {
  std::string host;  // in lower case, without a port
  NetworkDecision decision;

  friend bool operator==(const NetworkRule&, const NetworkRule&) = default;
};

// The lists for a proxy, which apply to every protocol. A host is in at most one of them.
struct NetworkHosts {
  std::vector<std::string> allowed = {}, denied = {};

  friend bool operator==(const NetworkHosts&, const NetworkHosts&) = default;
};

// Fails if a part of the rule is not valid. The protocol is only checked.
Result<NetworkRule> ParseNetworkRule(std::string_view host, std::string_view protocol, std::string_view decision);

// Of several rules about one host the last one counts. A rule that prompts has no effect, because a proxy cannot ask.
NetworkHosts CompileNetworkRules(std::span<const NetworkRule> rules);

}  // namespace holdfast::exec_policy
