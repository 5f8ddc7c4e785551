// The proxy listeners are the inside of a managed network: the inner stage opens one in the private network namespace
// for each proxy of the host. It sends the listeners to the bridge outside (bridge.h), and keeps nothing of them
// inside: no process, no descriptor, no socket file.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/proxy/routes.h"

namespace holdfast::sandbox {

// The part of the inner stage's orders about the listeners to open. The endpoint of a variable is the index of a
// listener.
struct ProxyOrders {
  int control_fd = -1;  // of a ProxyBridge
  uint32_t listeners = 0;
  std::vector<ProxyVariable> variables = {};

  void Fields(this auto& self, auto& f) { f(self.control_fd, self.listeners, self.variables); }
  bool IsValid() const;

  friend bool operator==(const ProxyOrders&, const ProxyOrders&) = default;
};

// Opens the listeners, sends them to the bridge, and sets the variables in the environment of this process so that they
// name the listeners. The loopback interface must be up.
Result<> OpenProxyListeners(const ProxyOrders& orders);

}  // namespace holdfast::sandbox
