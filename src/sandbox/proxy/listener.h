// The inside of the managed proxy: a listener in the private network namespace for each proxy of the host. The
// listeners are handed to the bridge outside (proxy_bridge.h), and nothing of the way to it stays inside: no process,
// no descriptor, no socket file.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/proxy/routes.h"

namespace holdfast::sandbox {

// The listeners to open. Each variable's endpoint is the number of a listener.
struct ProxyOrders {
  int control_fd = -1;  // of a ProxyBridge
  uint32_t listeners = 0;
  std::vector<ProxyVariable> variables = {};

  friend bool operator==(const ProxyOrders&, const ProxyOrders&) = default;
};

// Needs a loopback that is up. The variables in this process's environment then name the listeners.
Result<> OpenProxyListeners(const ProxyOrders& orders);

}  // namespace holdfast::sandbox
