// What the outer stage hands to the inner one, through a descriptor: nothing of it is on a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/plan.h"
#include "sandbox/proxy_routes.h"

namespace holdfast::sandbox {

// What proxy_listener.h does. Each variable's endpoint is the number of a listener.
struct ProxyOrders {
  int control_fd = -1;  // of a ProxyBridge
  uint32_t listeners = 0;
  std::vector<ProxyVariable> variables = {};

  friend bool operator==(const ProxyOrders&, const ProxyOrders&) = default;
};

struct InnerOrders {
  std::vector<std::string> argv;       // never empty
  std::string working_directory = {};  // absolute; empty: where the stage is
  Filter filter = Filter::kRestrictedNetwork;
  std::vector<LandlockRule> landlock = {};
  bool landlock_required = false;
  std::vector<int> kept_fds = {};  // besides 0, 1 and 2
  std::optional<ProxyOrders> proxy = {};
};

std::string Encode(const InnerOrders& orders);

// Takes exactly what Encode makes of orders that can be carried out; everything else is refused.
Result<InnerOrders> DecodeOrders(std::string_view bytes);

}  // namespace holdfast::sandbox
