// Proxy routes are the proxies that the variables of an environment name, and the values that these variables get
// inside a sandbox whose only network is these proxies. Everything here works on text alone.
//
// What it does not stop: the author of the environment chooses the ports, and a variable that names the port of another
// service of the host opens the way to that service. A list of allowed ports limits this.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::sandbox {

// The host of a proxy as the variable writes it. "localhost" may be either of the two addresses.
enum class LoopbackHost { kLocalhost, kIpv4, kIpv6 };
constexpr LoopbackHost LastOf(LoopbackHost) { return LoopbackHost::kIpv6; }

struct ProxyEndpoint {
  LoopbackHost host = LoopbackHost::kLocalhost;
  uint16_t port = 0;

  void Fields(this auto& self, auto& f) { f(self.host, self.port); }

  friend bool operator==(const ProxyEndpoint&, const ProxyEndpoint&) = default;
};

// A variable that names a proxy. Its value inside is `before`, the address of the listener that stands for the
// endpoint, and `after`.
struct ProxyVariable {
  std::string name, before, after;
  uint32_t endpoint = 0;  // an index into the endpoints

  void Fields(this auto& self, auto& f) { f(self.name, self.before, self.after, self.endpoint); }
  bool IsValid() const { return !name.empty() && !name.contains('='); }

  friend bool operator==(const ProxyVariable&, const ProxyVariable&) = default;
};

// The number of different endpoints is limited, because their listeners travel in one message.
inline constexpr size_t kMaxProxyEndpoints = 64;

struct ProxyRoutes {
  std::vector<ProxyEndpoint> endpoints;
  std::vector<ProxyVariable> variables;

  void Fields(this auto& self, auto& f) { f(self.endpoints, self.variables); }
};

// Finds the proxies in `environment`, which has the form of environ. Of the variables in which tools look for a proxy,
// those count that name a loopback address and one of `ports`, or any port when `ports` is empty. The others stay as
// they are: inside, their addresses lead nowhere. Fails when no variable counts.
Result<ProxyRoutes> FindProxyRoutes(const char* const* environment, std::span<const uint16_t> ports);

// Returns the value of the variable inside, where the listener for its endpoint is on `port` of 127.0.0.1.
std::string ValueInside(const ProxyVariable& variable, uint16_t port);

}  // namespace holdfast::sandbox
