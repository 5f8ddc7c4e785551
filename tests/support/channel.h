// A channel is a connection of a test to a server, over the transports of the product. It blocks and has no thread: its
// loop runs only inside Send and Receive, so a test that receives nothing also reads nothing, except for one message
// that may wait inside the transport.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/event_loop.h"
#include "rpc/transport.h"

namespace holdfast::support {

class Channel final : public rpc::Receiver {
 public:
  // The transport belongs to the loop. A channel without a transport has ended.
  Channel(std::unique_ptr<loop::EventLoop> loop, std::shared_ptr<rpc::Transport> transport);
  ~Channel() override { Close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Returns when the kernel has the whole message, and false if the connection has ended. A server that does not read
  // for long fails the test.
  bool Send(std::string_view text);

  // Returns the next message, or nothing if none comes in time or the connection has ended.
  std::optional<std::string> Receive(std::chrono::milliseconds timeout);

  // Returns whether the connection has ended, as far as Send and Receive have seen.
  bool ended() const { return ended_; }

  // Closes the connection without a goodbye.
  void Close();

 private:
  void OnMessage(std::string_view message) override;
  void OnDrained() override {}
  void OnClosed() override { ended_ = true; }

  std::unique_ptr<loop::EventLoop> loop_;
  std::shared_ptr<rpc::Transport> transport_;
  std::optional<std::string> message_;  // has arrived, and Receive has not returned it yet
  bool ended_ = false;
};

// Connects to ws://IP:PORT by WebSocket, and to unix:///path with one message per line. A failure fails the test, and
// the channel has ended.
std::unique_ptr<Channel> OpenChannel(std::string_view url);

// Talks to a server on its standard streams, one message per line. The descriptors are borrowed.
std::unique_ptr<Channel> OpenPipes(int to_server, int from_server);

}  // namespace holdfast::support
