// WaitingFrames reads the frames of a connection that waits to be joined to another: it answers pings and the closing
// handshake, and notices pongs. Data has no receiver yet. It does no I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::rendezvous {

// The codes of RFC 6455, section 7.4.1, that a relay sends.
enum class CloseCode : uint16_t { kGoingAway = 1001, kProtocolError = 1002, kTooBig = 1009 };

std::string PingFrame();
std::string CloseFrame(CloseCode code);

class WaitingFrames {
 public:
  enum class Outcome { kWaits, kClosed, kData };

  // Reads the next bytes, which are unmasked frames, and appends the frames that answer them to `reply`. Returns
  // kClosed after a Close frame, and kData if a data frame begins.
  Outcome Add(std::string_view bytes, std::string& reply);

  // Returns whether a pong has come since the last call.
  bool TakePong();

  // Returns the part of a frame that has arrived, for the pipe that the connection is joined to.
  std::string TakeRest();

 private:
  Outcome AnswerFrame(std::string_view frame, std::string& reply);

  std::string rest_;  // the beginning of a control frame, at most 127 bytes
  bool ponged_ = false;
};

}  // namespace holdfast::rendezvous
