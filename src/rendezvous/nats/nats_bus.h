// The bus of nodes that share a NATS server or cluster. The records of the executors and the ticket key are in a
// JetStream key-value bucket; the bytes of a joined pair go over two subjects of their own, numbered, with a window of
// bytes that the receiver has not consumed yet. NATS may lose messages when it is restarted or overrun: a gap in the
// numbers, or silence, ends the pipe, and both ends reconnect and resume their session.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "rendezvous/bus/bus.h"

namespace holdfast::rendezvous {

struct NatsSettings {
  std::string url;                 // nats://HOST:PORT or tls://HOST:PORT; several are separated by commas
  std::string credentials_file{};  // of NATS, may be empty
  std::string bucket = "holdfast-executors";
  std::string subject_prefix = "holdfast";
};

// Loads the NATS library, which is not needed otherwise. Fails if it is not installed or the settings cannot be used.
Result<std::unique_ptr<Bus>> MakeNatsBus(loop::EventLoop& loop, NatsSettings settings);

}  // namespace holdfast::rendezvous
