// The address that a node listens on, and the URL at which the other nodes dial it: that of --advertise, or else made
// of that address. Where that is every address, it is the one at which NATS sees the node.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "rendezvous/nats/nats_settings.h"
#include "rendezvous/rendezvous_config.h"
#include "transport/listen_url.h"

namespace holdfast::rendezvous {

Result<transport::WebSocketUrl> ListenAddressOf(const RendezvousConfig& config);

// Fails if the settings can be seen to lead to no URL, or to one that NodeUrl refuses.
Result<> CheckNodeUrl(const RendezvousConfig& config);

// Returns the function that finds the URL of a node which listens on `port`. It may run on any thread. A URL by which
// others could read what nodes send to each other is refused, unless the settings allow it.
decltype(NatsSettings::node_url) NodeUrl(const RendezvousConfig& config, uint16_t port);

}  // namespace holdfast::rendezvous
