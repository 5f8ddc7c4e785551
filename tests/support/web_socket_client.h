// The hostile WebSocket client of the tests, which can do everything that a client must not do, and shows every frame
// of the server. It shares no code with the product, and so checks independently what the server sends: no reserved
// bit, no mask, no unknown opcode, no fragment out of place. It blocks and has no thread. A test that needs neither
// uses an RpcClient or a Channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/test_socket.h"

namespace holdfast::support {

enum class Opcode : uint8_t { kContinuation = 0x0, kText = 0x1, kBinary = 0x2, kClose = 0x8, kPing = 0x9, kPong = 0xa };

struct Frame {
  bool fin = true;
  uint8_t rsv = 0;  // three bits
  Opcode opcode = Opcode::kText;
  bool masked = true;
  std::string payload = {};
};

std::string BuildFrame(const Frame& frame);
// Returns the path of a ws: URL, which is the server's secret; `/` without a secret, and on a unix socket.
std::string PathOf(std::string_view url);
std::string ClosePayload(uint16_t code, std::string_view reason = "");

struct Received {
  enum class Kind { kText, kBinary, kPing, kPong, kClose, kEof, kTimeout, kProtocolError };

  Kind kind;
  std::string payload = {};  // for kProtocolError: what is wrong
  uint16_t close_code = 0;   // for kClose; 0 when the frame has none
  size_t fragments = 1;      // the number of frames of the message
  size_t largest_frame = 0;  // the payload bytes of the largest of them
};

std::ostream& operator<<(std::ostream& out, const Received& received);

class WebSocketClient {
 public:
  // Connects and upgrades. A failure fails the test, and Receive of the client then returns kEof.
  static WebSocketClient Connect(std::string_view url);

  // The connection has been upgraded already.
  explicit WebSocketClient(TestSocket socket) : socket_(std::move(socket)) {}

  static std::string UpgradeRequest(std::string_view path = "/", std::string_view more_headers = "");

  bool SendText(std::string_view text) { return SendFrame({.payload = std::string(text)}); }
  bool SendBinary(std::string_view bytes) {
    return SendFrame({.opcode = Opcode::kBinary, .payload = std::string(bytes)});
  }
  bool SendPing(std::string_view payload) {
    return SendFrame({.opcode = Opcode::kPing, .payload = std::string(payload)});
  }
  bool SendClose(uint16_t code, std::string_view reason = "") {
    return SendFrame({.opcode = Opcode::kClose, .payload = ClosePayload(code, reason)});
  }
  bool SendFrame(const Frame& frame) { return SendRaw(BuildFrame(frame)); }
  bool SendRaw(std::string_view bytes) { return socket_.Send(bytes); }

  // Returns the next whole message or control frame.
  Received Receive(std::chrono::milliseconds timeout = kPatience);

  // Returns the text of the next message, and answers pings that come before it. Anything else fails the test, and the
  // result is empty.
  std::string ReceiveText(std::chrono::milliseconds timeout = kPatience);

  // Returns the code of the next Close frame, and skips messages before it. A stream that ends without such a frame
  // fails the test, and the result is 0.
  uint16_t ReceiveCloseCode(std::chrono::milliseconds timeout = kPatience);

  TestSocket& socket() { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Fill { kMore, kEof, kTimeout };

  bool Upgrade(std::string_view path);
  Fill FillBuffer(Clock::time_point deadline);
  std::optional<Received> TakeFrame();
  std::optional<Received> TakeControl(const Frame& frame);
  std::optional<Received> TakeData(Frame frame);

  TestSocket socket_;
  std::string buffer_;
  size_t parsed_ = 0;                // the bytes of buffer_ that have been parsed
  std::optional<Received> message_;  // the message whose fragments are arriving
};

}  // namespace holdfast::support
