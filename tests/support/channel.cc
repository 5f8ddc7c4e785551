#include <poll.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/rpc_client.h"

namespace holdfast::support {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = Received::Kind;

class WebSocketChannel final : public Channel {
 public:
  explicit WebSocketChannel(std::string_view url) : client_(WebSocketClient::Connect(url)) {}

  bool Send(std::string_view text) override { return client_.SendText(text); }
  void Close() override { client_.socket().Close(); }

  Received Receive(std::chrono::milliseconds timeout) override {
    const auto deadline = Clock::now() + timeout;
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      Received received = client_.Receive(std::max(left, std::chrono::milliseconds(0)));
      if (received.kind != Kind::kPing) return received;
      client_.SendFrame({.opcode = Opcode::kPong, .payload = received.payload});
    }
  }

 private:
  WebSocketClient client_;
};

// One message per line on a pair of descriptors, which may be one socket.
class LinesChannel : public Channel {
 public:
  LinesChannel(int to_server, int from_server) : to_server_(to_server), from_server_(from_server) {}

  bool Send(std::string_view text) override {
    std::string line = std::string(text) + '\n';
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t n = ::write(to_server_, rest.data(), rest.size());
      if (n < 0) return false;
      rest.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  Received Receive(std::chrono::milliseconds timeout) override {
    const auto deadline = Clock::now() + timeout;
    for (;;) {
      if (const size_t end = buffer_.find('\n', searched_); end != std::string::npos) {
        Received line{.kind = Kind::kText, .payload = buffer_.substr(0, end)};
        buffer_.erase(0, end + 1);
        searched_ = 0;
        return line;
      }
      searched_ = buffer_.size();
      if (!WaitReadable(deadline)) return {.kind = Kind::kTimeout};
      char block[64u << 10];
      const ssize_t n = ::read(from_server_, block, sizeof block);
      if (n <= 0) return {.kind = Kind::kEof};
      buffer_.append(block, static_cast<size_t>(n));
    }
  }

  void Close() override { ADD_FAILURE() << "these descriptors are not ours to close"; }

 private:
  bool WaitReadable(Clock::time_point deadline) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{.fd = from_server_, .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, static_cast<int>(std::max<int64_t>(left.count(), 0))) == 1;
  }

  int to_server_, from_server_;
  std::string buffer_;
  size_t searched_ = 0;  // bytes of buffer_ without a line end
};

class LinesSocketChannel final : public LinesChannel {
 public:
  explicit LinesSocketChannel(TestSocket socket) : LinesChannel(socket.fd(), socket.fd()), socket_(std::move(socket)) {}

  void Close() override { socket_.Close(); }

 private:
  TestSocket socket_;
};

}  // namespace

std::unique_ptr<Channel> OpenWebSocket(std::string_view url) { return std::make_unique<WebSocketChannel>(url); }

std::unique_ptr<Channel> OpenLines(std::string_view url) {
  return std::make_unique<LinesSocketChannel>(TestSocket::Connect(url));
}

std::unique_ptr<Channel> OpenPipes(int to_server, int from_server) {
  return std::make_unique<LinesChannel>(to_server, from_server);
}

}  // namespace holdfast::support
