#include "support/web_socket_client.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::support {
namespace {

using Kind = Received::Kind;

constexpr std::array<char, 4> kMask = {'\x12', '\x34', '\x56', '\x78'};
constexpr uint8_t kFin = 0x80, kMasked = 0x80;

void AppendBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

uint64_t ReadBigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

bool IsControl(Opcode opcode) { return std::to_underlying(opcode) >= 0x8; }

bool IsKnown(Opcode opcode) {
  const auto value = std::to_underlying(opcode);
  return value <= 0x2 || (value >= 0x8 && value <= 0xa);
}

Received ProtocolError(std::string what) { return {.kind = Kind::kProtocolError, .payload = std::move(what)}; }

// Returns what is wrong with a frame of the server, regardless of the frames before it.
std::optional<std::string> Objection(const Frame& frame) {
  if (frame.rsv != 0) return "reserved bits are set";
  if (frame.masked) return "a server must not mask";
  if (!IsKnown(frame.opcode)) return "unknown opcode";
  if (IsControl(frame.opcode) && (!frame.fin || frame.payload.size() > 125)) return "bad control frame";
  return std::nullopt;
}

// Removes the complete frame at the front of `buffer` and returns it.
std::optional<Frame> ParseFrame(std::string_view& buffer) {
  if (buffer.size() < 2) return std::nullopt;
  const auto first = static_cast<uint8_t>(buffer[0]), second = static_cast<uint8_t>(buffer[1]);
  uint64_t length = second & 0x7f;
  size_t header = 2;
  if (length >= 126) {
    const size_t length_bytes = length == 126 ? 2 : 8;
    if (buffer.size() < header + length_bytes) return std::nullopt;
    length = ReadBigEndian(buffer.substr(header, length_bytes));
    header += length_bytes;
  }
  if (buffer.size() - header < length) return std::nullopt;
  Frame frame{.fin = (first & kFin) != 0,
              .rsv = static_cast<uint8_t>(first >> 4 & 0x7),
              .opcode = static_cast<Opcode>(first & 0xf),
              .masked = (second & kMasked) != 0,
              .payload = std::string(buffer.substr(header, length))};
  buffer.remove_prefix(header + length);
  return frame;
}

}  // namespace

std::string BuildFrame(const Frame& frame) {
  std::string bytes;
  bytes.push_back(static_cast<char>((frame.fin ? kFin : 0) | frame.rsv << 4 | std::to_underlying(frame.opcode)));
  const size_t size = frame.payload.size();
  const uint8_t mask_bit = frame.masked ? kMasked : 0;
  const uint8_t short_length = size <= 125 ? static_cast<uint8_t>(size) : size <= UINT16_MAX ? 126 : 127;
  bytes.push_back(static_cast<char>(mask_bit | short_length));
  if (short_length == 126) AppendBigEndian(bytes, size, 2);
  if (short_length == 127) AppendBigEndian(bytes, size, 8);
  if (!frame.masked) return bytes + frame.payload;
  bytes.append(kMask.data(), kMask.size());
  bytes += frame.payload;
  // Plain pointers, because tests send hundreds of megabytes and are compiled without optimization.
  static_assert(kMask.size() == 4);
  const char* const mask = kMask.data();
  char* const masked = bytes.data() + bytes.size() - size;
  for (size_t i = 0; i < size; ++i) masked[i] ^= mask[i % 4];
  return bytes;
}

std::string ClosePayload(uint16_t code, std::string_view reason) {
  std::string payload;
  AppendBigEndian(payload, code, 2);
  return payload.append(reason);
}

std::ostream& operator<<(std::ostream& out, const Received& received) {
  static constexpr const char* kNames[] = {"text",  "binary", "ping",    "pong",
                                           "close", "eof",    "timeout", "protocol error"};
  return out << kNames[std::to_underlying(received.kind)] << " " << received.close_code << " \""
             << received.payload.substr(0, 200) << "\"";
}

std::string PathOf(std::string_view url) {
  constexpr std::string_view kTcp = "ws://";
  if (!url.starts_with(kTcp)) return "/";
  url.remove_prefix(kTcp.size());
  const size_t slash = url.find('/');
  return std::string(slash == std::string_view::npos ? "/" : url.substr(slash));
}

WebSocketClient WebSocketClient::Connect(std::string_view url) {
  WebSocketClient client(TestSocket::Connect(url));
  if (client.socket_.is_open() && !client.Upgrade(PathOf(url))) {
    ADD_FAILURE() << "no upgrade by " << url << ": " << client.buffer_;
    client.socket_.Close();
  }
  return client;
}

std::string WebSocketClient::UpgradeRequest(std::string_view path, std::string_view more_headers) {
  return "GET " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
         std::string(more_headers) + "\r\n";
}

// The accept value is the answer to the sample key of RFC 6455.
bool WebSocketClient::Upgrade(std::string_view path) {
  if (!socket_.Send(UpgradeRequest(path))) return false;
  const auto deadline = Clock::now() + kPatience;
  size_t end;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (FillBuffer(deadline) != Fill::kMore) return false;
  }
  parsed_ = end + 4;
  const std::string_view head = std::string_view(buffer_).substr(0, parsed_);
  return head.starts_with("HTTP/1.1 101 ") && head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

WebSocketClient::Fill WebSocketClient::FillBuffer(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  const auto bytes = socket_.ReceiveSome(std::max(left, std::chrono::milliseconds(0)));
  if (!bytes) return Fill::kTimeout;
  buffer_.erase(0, std::exchange(parsed_, 0));
  buffer_ += *bytes;
  return bytes->empty() ? Fill::kEof : Fill::kMore;
}

Received WebSocketClient::Receive(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    const size_t before = parsed_;
    if (auto received = TakeFrame()) return *std::move(received);
    if (parsed_ != before) continue;  // a fragment was taken; the next may be there already
    const Fill fill = FillBuffer(deadline);
    if (fill == Fill::kTimeout) return {.kind = Kind::kTimeout};
    if (fill == Fill::kEof) return buffer_.empty() ? Received{.kind = Kind::kEof} : ProtocolError("half a frame");
  }
}

std::optional<Received> WebSocketClient::TakeFrame() {
  std::string_view rest = std::string_view(buffer_).substr(parsed_);
  auto frame = ParseFrame(rest);
  if (!frame) return std::nullopt;
  parsed_ = buffer_.size() - rest.size();
  if (auto objection = Objection(*frame)) return ProtocolError(*std::move(objection));
  return IsControl(frame->opcode) ? TakeControl(*frame) : TakeData(*std::move(frame));
}

std::optional<Received> WebSocketClient::TakeControl(const Frame& frame) {
  if (frame.opcode == Opcode::kPing) return Received{.kind = Kind::kPing, .payload = frame.payload};
  if (frame.opcode == Opcode::kPong) return Received{.kind = Kind::kPong, .payload = frame.payload};
  if (frame.payload.empty()) return Received{.kind = Kind::kClose};
  if (frame.payload.size() == 1) return ProtocolError("close with half a code");
  const auto code = static_cast<uint16_t>(ReadBigEndian(std::string_view(frame.payload).substr(0, 2)));
  return Received{.kind = Kind::kClose, .payload = frame.payload.substr(2), .close_code = code};
}

std::optional<Received> WebSocketClient::TakeData(Frame frame) {
  if (message_.has_value() != (frame.opcode == Opcode::kContinuation)) return ProtocolError("fragment out of place");
  const size_t largest = std::max(frame.payload.size(), message_ ? message_->largest_frame : 0);
  if (message_) {
    message_->payload += frame.payload;
    ++message_->fragments;
  } else {
    message_ = Received{.kind = frame.opcode == Opcode::kText ? Kind::kText : Kind::kBinary,
                        .payload = std::move(frame.payload)};
  }
  message_->largest_frame = largest;
  return frame.fin ? std::exchange(message_, std::nullopt) : std::nullopt;
}

std::string WebSocketClient::ReceiveText(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    Received received = Receive(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
    if (received.kind == Kind::kText) return std::move(received.payload);
    if (received.kind == Kind::kPing) {
      SendFrame({.opcode = Opcode::kPong, .payload = received.payload});
    } else if (received.kind != Kind::kPong) {
      ADD_FAILURE() << "expected a text message, got " << received;
      return "";
    }
  }
}

uint16_t WebSocketClient::ReceiveCloseCode(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    const Received received = Receive(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
    if (received.kind == Kind::kClose) return received.close_code;
    if (received.kind == Kind::kEof || received.kind == Kind::kTimeout || received.kind == Kind::kProtocolError) {
      ADD_FAILURE() << "expected a close frame, got " << received;
      return 0;
    }
  }
}

}  // namespace holdfast::support
