// One connection as the protocol sees it: whole messages in, whole messages out. Implemented by transport/ (WebSocket,
// lines) and by a fake in tests. Everything happens on the loop's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::rpc {

// Who is told what arrives. Outlives the transport's last call, OnClosed.
class Receiver {
 public:
  virtual ~Receiver() = default;

  // One message; the view is valid during the call only.
  virtual void OnMessage(std::string_view message) = 0;
  // The queue fell below its low mark after congested() was true.
  virtual void OnDrained() = 0;
  // The peer is gone, whoever ended it. Nothing is called afterwards.
  virtual void OnClosed() = 0;
};

enum class Reading { kOn, kOff };

class Transport {
 public:
  virtual ~Transport() = default;

  // Starts the flow of messages; called once.
  virtual void Start(Receiver& receiver) = 0;

  // Queues one message. What is queued within one turn of the loop leaves in one write. Ignored once closed.
  virtual void Send(std::string message) = 0;

  // More is queued than the peer should make us hold: producers pause until OnDrained. Send still takes messages.
  virtual bool congested() const = 0;

  // With kOff no further message is delivered and, soon, the socket is not read: back-pressure on the peer.
  virtual void SetReading(Reading reading) = 0;

  // Sends what is queued, says goodbye in the transport's own way and closes; OnClosed follows, at most a few seconds
  // later whatever the peer does.
  virtual void Close() = 0;

  // Who is at the other end, for the log and for error messages.
  virtual std::string_view peer() const = 0;
};

}  // namespace holdfast::rpc
