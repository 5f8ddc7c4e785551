// These tests check how long messages draw from the budget of the server, on both kinds of connection.
#include "transport/inbound_room.h"

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/scratch_dir.h"
#include "support/test_socket.h"
#include "support/web_socket_client.h"
#include "transport/listener.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using loop::ByteBudget;
using support::Eventually;
using support::TestSocket;
using support::WebSocketClient;

constexpr size_t kMiB = 1u << 20;
constexpr auto kNever = 1h;
constexpr uint16_t kTryAgainLater = 1013;

// The tests use a server on a unix socket, where a peer may speak WebSocket or lines, with a budget of its own.
class InboundRoomTest : public testing::Test {
 protected:
  ~InboundRoomTest() override {
    server_->Run([this] {  // objects of the loop must be destroyed on its thread
      others_.reset();
      budget_.reset();
    });
  }

  void Serve(const ByteBudget::Options& options) {
    server_.emplace([&](loop::EventLoop& loop, OnConnection on_connection) {
      budget_ = std::make_shared<ByteBudget>(loop, options);
      Limits limits;
      limits.budget = budget_;
      return ListenUnix(loop, {path_}, limits, TestRoutes(), std::move(on_connection));
    });
  }

  // Makes other holders occupy that many bytes of the budget; 0 frees them.
  void HoldByOthers(size_t bytes) {
    server_->Run([&] {
      if (!others_) others_ = budget_->Open();
      others_->Resize(bytes);
    });
  }

  size_t Held() {
    size_t held = 0;
    server_->Run([&] { held = budget_->held(); });
    return held;
  }

  WebSocketClient ConnectWebSocket() { return WebSocketClient::Connect(server_->url()); }
  TestSocket ConnectLines() { return TestSocket::Connect(server_->url()); }

  // Waits long enough to notice a message that must not come.
  bool StaysSilent(Peer& peer) {
    return !Eventually([&] { return peer.messages() > 0; }, 50ms);
  }

  // Sends a part of a message that never ends.
  static void SendUnfinished(WebSocketClient& client, size_t bytes) {
    client.SendFrame({.fin = false, .payload = std::string(bytes, 'x')});
  }

  support::ScratchDir dir_;
  const std::string path_ = dir_.path() + "/s";
  std::shared_ptr<ByteBudget> budget_;
  std::optional<ByteBudget::Permit> others_;
  std::optional<TestServer> server_;
};

TEST_F(InboundRoomTest, CountsAMessageUntilItIsDelivered) {
  Serve({.bytes = 8 * kMiB});
  WebSocketClient client = ConnectWebSocket();
  SendUnfinished(client, 2 * kMiB);
  EXPECT_TRUE(Eventually([&] { return Held() >= 2 * kMiB; }));
  client.SendFrame({.opcode = support::Opcode::kContinuation, .payload = "end"});
  EXPECT_EQ(server_->WaitForPeer().WaitForMessage().size(), 2 * kMiB + 3);
  EXPECT_TRUE(Eventually([&] { return Held() == 0; }));
}

TEST_F(InboundRoomTest, CountsALineUntilItIsDelivered) {
  Serve({.bytes = 8 * kMiB});
  TestSocket client = ConnectLines();
  client.Send("{" + std::string(kMiB, 'x'));
  EXPECT_TRUE(Eventually([&] { return Held() >= kMiB; }));
  client.Send("\n{");  // the beginning of the next message does not keep the room of the last one
  EXPECT_EQ(server_->WaitForPeer().WaitForMessage().size(), kMiB + 1);
  EXPECT_TRUE(Eventually([&] { return Held() == 0; }));
}

TEST_F(InboundRoomTest, GivesBackWhatAGonePeerHeld) {
  Serve({.bytes = 8 * kMiB});
  {
    WebSocketClient client = ConnectWebSocket();
    SendUnfinished(client, kMiB);
    EXPECT_TRUE(Eventually([&] { return Held() >= kMiB; }));
    server_->WaitForPeer();
  }
  EXPECT_TRUE(Eventually([&] { return Held() == 0; }));
}

TEST_F(InboundRoomTest, DeliversShortMessagesWithoutRoom) {
  Serve({.bytes = 8 * kMiB, .patience = kNever});
  HoldByOthers(100 * kMiB);
  WebSocketClient client = ConnectWebSocket();
  client.SendText(std::string(30'000, 'x'));
  EXPECT_EQ(server_->WaitForPeer().WaitForMessage().size(), 30'000u);
  TestSocket lines = ConnectLines();
  lines.Send("{" + std::string(30'000, 'x') + "\n");
  EXPECT_EQ(server_->WaitForPeer().WaitForMessage().size(), 30'001u);
}

TEST_F(InboundRoomTest, MakesALongMessageWaitForRoom) {
  Serve({.bytes = 8 * kMiB, .patience = kNever});
  HoldByOthers(8 * kMiB);
  WebSocketClient client = ConnectWebSocket();
  TestSocket lines = ConnectLines();
  std::thread web_socket_sender([&] { client.SendText(std::string(400'000, 'x')); });
  Peer& web_socket = server_->WaitForPeer();
  std::thread line_sender([&] { lines.Send("{" + std::string(400'000, 'x') + "\n"); });
  Peer& line = server_->WaitForPeer();
  EXPECT_TRUE(StaysSilent(web_socket) && StaysSilent(line));
  HoldByOthers(0);
  EXPECT_EQ(web_socket.WaitForMessage().size(), 400'000u);
  EXPECT_EQ(line.WaitForMessage().size(), 400'001u);
  web_socket_sender.join();
  line_sender.join();
}

TEST_F(InboundRoomTest, EndsAConnectionThatGetsNoRoom) {
  Serve({.bytes = 8 * kMiB, .patience = 50ms, .tick = 5ms});
  HoldByOthers(8 * kMiB);
  WebSocketClient client = ConnectWebSocket();
  client.SendText(std::string(400'000, 'x'));
  EXPECT_EQ(client.ReceiveCloseCode(), kTryAgainLater);
  TestSocket lines = ConnectLines();
  lines.Send("{" + std::string(400'000, 'x') + "\n");
  EXPECT_EQ(lines.ReceiveSome(), "");
}

// Without this rule, peers that send half a message and then nothing would keep all others from sending a long one.
TEST_F(InboundRoomTest, EndsTheConnectionThatHoldsMostWhenAnotherNeedsTheRoom) {
  Serve({.bytes = 10 * kMiB, .patience = kNever, .tenure = 100ms, .tick = 5ms});
  WebSocketClient small = ConnectWebSocket(), large = ConnectWebSocket();
  SendUnfinished(small, kMiB);
  SendUnfinished(large, 6 * kMiB);
  EXPECT_TRUE(Eventually([&] { return Held() >= 7 * kMiB; }));
  WebSocketClient other = ConnectWebSocket();
  std::thread sender([&] { other.SendText(std::string(5 * kMiB, 'x')); });
  EXPECT_EQ(large.ReceiveCloseCode(), kTryAgainLater);
  server_->WaitForPeer();
  server_->WaitForPeer();
  EXPECT_EQ(server_->WaitForPeer().WaitForMessage().size(), 5 * kMiB);
  sender.join();
  EXPECT_EQ(small.Receive(50ms).kind, support::Received::Kind::kTimeout) << "it may stay";
}

}  // namespace
}  // namespace holdfast::transport
