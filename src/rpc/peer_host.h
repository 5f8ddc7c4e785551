// The object that a peer serves: a connection of the exec-server, or a client. The peer calls it on the loop's thread.
// The host must live until the peer has called OnClosed, which is its last call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "loop/byte_budget.h"
#include "loop/event_loop.h"
#include "rpc/message.h"
#include "rpc/reply.h"
#include "wire/json.h"

namespace holdfast::rpc {

// The settings of a peer, and the objects that it shares with other peers.

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

class PeerHost {
 public:
  virtual ~PeerHost() = default;

  // Called first for every message. A host that returns true has dealt with the message, and it is not parsed. A client
  // reads process/output here.
  virtual bool OnRawMessage(std::string_view message) {
    (void)message;
    return false;
  }

  // The views in a request or notification are valid only during the call.
  virtual void OnRequest(const Request& request, PendingReply reply) = 0;
  virtual void OnNotification(const Notification& notification) = 0;

  // A message has arrived that cannot be read.
  virtual void OnUnreadable(const Error& error) = 0;
  // A response has arrived that answers no call. A late answer to a call that was forgotten is not reported.
  virtual void OnStrayResponse(const Response& response) { (void)response; }

  // A call that was sent will not be waited for any longer: its task was destroyed, or the answer took too long. In
  // some protocols the other end gets a message about it. The host only sends messages here.
  virtual void OnCallForgotten(int64_t id) { (void)id; }

  // A message of this size has been handled, or an answer of this size was sent.
  virtual void OnHandled(size_t bytes) { (void)bytes; }
  // The other end does not read the answers that it is sent.
  virtual void OnCongested() {}
  // The other end has read what was queued.
  virtual void OnDrained() {}
  // The peer closes the connection because the budget needs the memory that it holds.
  virtual void OnReclaimed(size_t inflight_bytes) { (void)inflight_bytes; }
  // The connection has ended, and every pending call has failed.
  virtual void OnClosed() = 0;
};

}  // namespace holdfast::rpc
