// The network of a command that can reach nothing but proxies. This struct is a member of process/start, and the value
// of the helper's option --managed-network.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "wire/decode.h"

namespace holdfast::wire {

struct ManagedNetwork {
  // The ports of the loopback interface that the proxies may have. If the list is absent or empty, they may have any
  // port.
  std::optional<std::vector<uint16_t>> loopback_ports = {};
  // Tells whether the command may listen in its own network; absent means that it may.
  std::optional<bool> allow_local_binding = {};

  bool may_listen() const { return allow_local_binding.value_or(true); }

  void Fields(auto& f) {
    f.Optional("loopbackPorts", loopback_ports);
    f.Optional("allowLocalBinding", allow_local_binding);
    if constexpr (requires { f.fault(); }) CheckPorts(f);
  }

  friend bool operator==(const ManagedNetwork&, const ManagedNetwork&) = default;

 private:
  void CheckPorts(Decoder& f) const {
    std::vector<uint16_t> ports = loopback_ports.value_or(std::vector<uint16_t>{});
    std::ranges::sort(ports);
    if (!ports.empty() && ports.front() == 0) f.Fault("loopbackPorts", "0 is not a port");
    if (std::ranges::adjacent_find(ports) != ports.end()) f.Fault("loopbackPorts", "names a port twice");
  }
};

}  // namespace holdfast::wire
