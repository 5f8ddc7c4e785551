// The bus of nodes that share a NATS server or cluster. The records of the executors and the ticket key are in a
// JetStream key-value bucket; the bytes of a joined pair go over two subjects of their own, numbered, with a window of
// bytes that the receiver has not consumed yet. NATS may lose messages when it is restarted or overrun: a gap in the
// numbers, or silence, ends the pipe, and both ends reconnect and resume their session.
//
// The NATS library has threads of its own. They only hand messages to the loop, in bounded inboxes, and every call that
// may block is made by workers. When the connection is lost, all pipes end, and the bus connects again until it
// succeeds; it then tells NATS everything once more.
#pragma once

#include <memory>

#include "base/result.h"
#include "loop/event_loop.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/nats/nats_settings.h"

namespace holdfast::rendezvous {

// Loads the NATS library, which is not needed otherwise. Fails if it is not installed or the settings cannot be used.
// Start fails if no server can be reached. Pipes may outlive the bus, but have ended then.
Result<std::unique_ptr<Bus>> MakeNatsBus(loop::EventLoop& loop, NatsSettings settings);

}  // namespace holdfast::rendezvous
