// The proxies that an environment names, and what the variables say inside a sandbox that may use nothing else. Only
// text is looked at.
//
// Who writes the environment chooses the ports: a variable that names the port of another service of the host opens the
// way to it. A list of ports bounds that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::sandbox {

// Each as it is written: "localhost" may be either of the addresses.
enum class LoopbackHost { kLocalhost, kIpv4, kIpv6 };

struct ProxyEndpoint {
  LoopbackHost host = LoopbackHost::kLocalhost;
  uint16_t port = 0;

  friend bool operator==(const ProxyEndpoint&, const ProxyEndpoint&) = default;
};

// Its value inside is `before`, the address of the listener that stands for the endpoint, and `after`.
struct ProxyVariable {
  std::string name, before, after;
  uint32_t endpoint = 0;  // an index

  friend bool operator==(const ProxyVariable&, const ProxyVariable&) = default;
};

// At most so many different endpoints: their listeners travel in one message.
inline constexpr size_t kMaxProxyEndpoints = 64;

struct ProxyRoutes {
  std::vector<ProxyEndpoint> endpoints;
  std::vector<ProxyVariable> variables;
};

// `environment` has the form of environ. Of the variables that tools look at for a proxy, those that name a loopback
// address and one of `ports`, or any port when there are none. The others are left alone: inside they lead nowhere.
// Fails when there is none.
Result<ProxyRoutes> FindProxyRoutes(const char* const* environment, std::span<const uint16_t> ports);

// With a listener on `port` of 127.0.0.1.
std::string ValueInside(const ProxyVariable& variable, uint16_t port);

}  // namespace holdfast::sandbox
