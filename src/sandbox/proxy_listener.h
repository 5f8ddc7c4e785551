// The inside of the managed proxy: a listener in the private network namespace for each proxy of the host. The
// listeners are handed to the bridge outside (proxy_bridge.h), and nothing of the way to it stays inside: no process,
// no descriptor, no socket file.
#pragma once

#include "base/result.h"
#include "sandbox/inner_orders.h"

namespace holdfast::sandbox {

// Needs a loopback that is up. The variables in this process's environment then name the listeners.
Result<> OpenProxyListeners(const ProxyOrders& orders);

}  // namespace holdfast::sandbox
