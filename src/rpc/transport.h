// A Transport is one connection as the protocol sees it: it delivers and sends whole messages. src/transport implements
// it for WebSocket and for lines, and tests have a fake. Everything happens on the loop's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "loop/task.h"

namespace holdfast::rpc {

// The object to which a transport delivers what arrives. It must live until the transport has called OnClosed, its last
// call.
class Receiver {
 public:
  virtual ~Receiver() = default;

  // A message has arrived. The view is valid only during the call.
  virtual void OnMessage(std::string_view message) = 0;
  // The outbound queue has fallen below its low mark after congested() was true.
  virtual void OnDrained() = 0;
  // The connection has ended, from either side. The transport makes no calls after this one.
  virtual void OnClosed() = 0;
};

enum class Reading { kOn, kOff };

// Whether the other end gave a sign of life when it was asked for one.
enum class Presence { kAnswers, kSilent };

class Transport {
 public:
  virtual ~Transport() = default;

  // Starts the flow of messages; called once.
  virtual void Start(Receiver& receiver) = 0;

  // Queues one message. All messages that are queued within one turn of the loop leave in one write. A message for a
  // closed transport is discarded.
  virtual void Send(std::string message) = 0;

  // Returns whether more bytes are queued than the server should hold for one peer. Producers then pause until
  // OnDrained; Send still accepts messages.
  virtual bool congested() const = 0;

  // With kOff the transport delivers no further message and soon stops reading the socket, so that the peer has to
  // wait.
  virtual void SetReading(Reading reading) = 0;

  // Sends what is queued, ends the connection in the way of its protocol and closes it. OnClosed follows at most a few
  // seconds later, whatever the peer does.
  virtual void Close() = 0;

  // Ends the connection without a word. OnClosed follows in a later turn of the loop.
  virtual void Abort() = 0;

  // Asks the other end for a sign of life in the way of its protocol, and waits for it at most so long. Whatever comes
  // from the other end is one, also where reading is off. Where the protocol knows no such question, a connection that
  // the kernel has not reported as ended answers.
  virtual loop::Task<Presence> Probe(std::chrono::milliseconds patience) = 0;

  // A description of the other end, for the log and for error messages.
  virtual std::string_view peer() const = 0;
};

}  // namespace holdfast::rpc
