#include "exec_server/processes/managed_network.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sandbox/proxy/routes.h"
#include "sys/argv.h"

namespace holdfast::exec_server {
namespace {

// Returns the routes that the helper will find in the same environment.
Result<sandbox::ProxyRoutes> RoutesIn(const process::Environment& environment, const std::vector<uint16_t>& ports) {
  std::vector<std::string> entries;
  entries.reserve(environment.size());
  for (const auto& [name, value] : environment) entries.push_back(fmt::format("{}={}", name, value));
  return sandbox::FindProxyRoutes(sys::Argv(entries).data(), ports);
}

}  // namespace

Result<wire::ManagedNetwork> AgreeOnProxies(wire::ManagedNetwork asked, const process::Environment& environment) {
  if (!asked.loopback_ports || asked.loopback_ports->empty()) return asked;
  const auto routes = RoutesIn(environment, *asked.loopback_ports);
  if (!routes) {
    const bool too_many = routes.error().kind == ErrorKind::kLimit;
    return Fail(too_many ? ErrorKind::kLimit : ErrorKind::kInvalidParams, "managedNetwork: " + routes.error().message);
  }
  std::erase_if(*asked.loopback_ports, [&](uint16_t port) {
    return std::ranges::find(routes->endpoints, port, &sandbox::ProxyEndpoint::port) == routes->endpoints.end();
  });
  return asked;
}

}  // namespace holdfast::exec_server
