// A Pipe is one end of a stream of bytes that goes in both directions, such as a connection of a client, a connection
// of an executor, or the way to another node. The bytes are WebSocket frames without masks, as a server sends them. A
// piece of the stream may begin and end in the middle of a frame.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::rendezvous {

enum class Reading { kOn, kOff };

class Pipe {
 public:
  // The object that a pipe tells what happens at its other end. None of these functions is called from inside a
  // function of the pipe.
  class Receiver {
   public:
    virtual void OnBytes(std::string_view bytes) = 0;
    virtual void OnDrained() = 0;  // congested() has become false
    virtual void OnEnded() = 0;    // nothing comes after this call

   protected:
    ~Receiver() = default;
  };

  virtual ~Pipe() = default;

  // Begins to pass bytes to the receiver, which outlives the pipe or the call of Close.
  virtual void Start(Receiver& receiver) = 0;

  // Sends bytes without waiting. The caller stops its own source while congested() is true.
  virtual void Send(std::string_view bytes) = 0;
  virtual bool congested() const = 0;

  // Returns whether a whole message has been sent. A pipe that does not look at frames returns true.
  virtual bool has_sent_message() const { return true; }

  // While reading is off, nothing is read from the other end, which therefore has to wait.
  virtual void SetReading(Reading reading) = 0;

  // Ends the pipe after the bytes that were sent. The receiver is not told anything any more.
  virtual void Close() = 0;
};

}  // namespace holdfast::rendezvous
