// The settings of a peer, and the objects that it shares with other peers.
#pragma once

#include <cstddef>

#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "rpc/message.h"
#include "wire/json.h"

namespace holdfast::rpc {

// The objects that peers share. They outlive the peers.
struct PeerContext {
  loop::EventLoop& loop;
  loop::ByteBudget& held;    // counts the requests and answers that are held for the other end
  wire::Document& document;  // may be shared, because a message is decoded before the next one is parsed
};

// The behaviour of a peer while the other end does not read what it is sent. A server stops reading, so that it holds
// no more answers. A client goes on, because the server may be waiting for it to read: one of the two has to.
enum class WhenCongested { kStopReading, kGoOnReading };

struct PeerOptions {
  WhenCongested when_congested = WhenCongested::kStopReading;
  Dialect dialect = Dialect::kBare;
  size_t max_inflight = 1024;             // requests of the other end that are not answered
  size_t max_inflight_bytes = 64u << 20;  // and their bytes; the peer stops reading at either bound
};

}  // namespace holdfast::rpc
