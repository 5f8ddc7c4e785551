// The bus of nodes that share a NATS server or cluster. The records of the executors, with the URLs of their nodes, and
// the ticket key are in a JetStream key-value bucket.
//
// Every call into the NATS library may block, and is made by workers. When the connection is lost, the bus connects
// again until it succeeds; it then tells NATS everything once more.
#pragma once

#include <memory>

#include "base/result.h"
#include "loop/event_loop.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/nats/nats_settings.h"

namespace holdfast::rendezvous {

// Loads the NATS library, which is not needed otherwise. Fails if it is not installed or the settings cannot be used.
// Start fails if no server can be reached, or the node has no URL that others may dial.
Result<std::unique_ptr<Bus>> MakeNatsBus(loop::EventLoop& loop, NatsSettings settings);

}  // namespace holdfast::rendezvous
