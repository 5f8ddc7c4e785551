// These tests check the outbound side of a WebSocket connection, back-pressure in both directions, and the end of the
// connection.
#include <poll.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "support/web_socket_client.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using std::chrono::milliseconds;
using support::BuildFrame;
using support::Received;
using support::WebSocketClient;
using Op = support::Opcode;
using Kind = Received::Kind;

constexpr size_t kMiB = 1u << 20;

void Echo(Peer& peer, std::string_view message) { peer.transport()->Send(std::string(message)); }

TEST(WebSocketFlowTest, EchoesFromInsideTheReceiver) {
  TestServer server(Limits(), Echo);
  auto client = WebSocketClient::Connect(server.url());
  for (const size_t size : {0u, 1u, 125u, 126u, 65'535u, 65'536u, 1'000'000u}) {
    const std::string message(size, 'e');
    client.SendText(message);
    ASSERT_EQ(client.ReceiveText(), message);
  }
}

TEST(WebSocketFlowTest, SendsWhatOneTurnQueuesInOneWrite) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] {
    peer.transport()->Send("short");
    peer.transport()->Send(std::string(5'000, 'l'));
    peer.transport()->Send("also short");
  });
  const std::string expected = BuildFrame({.masked = false, .payload = "short"}) +
                               BuildFrame({.masked = false, .payload = std::string(5'000, 'l')}) +
                               BuildFrame({.masked = false, .payload = "also short"});
  EXPECT_EQ(client.socket().ReceiveSome(), expected);
}

TEST(WebSocketFlowTest, FragmentsAMessageAboveTheFrameSize) {
  Limits limits;
  limits.outbound_frame_bytes = 1'000;
  TestServer server(limits);
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  for (const auto& [size, fragments] : {std::pair{1'000u, 1u}, {1'001u, 2u}, {2'000u, 2u}, {10'500u, 11u}}) {
    std::string message(size, 'f');
    message.back() = '.';
    server.Run([&] { peer.transport()->Send(message); });
    const Received received = client.Receive();
    EXPECT_EQ(received.payload, message);
    EXPECT_EQ(received.fragments, fragments) << size;
  }
}

// 40 MiB pass through a socket buffer of a few MiB, so that writes end at any offset.
TEST(WebSocketFlowTest, SendsEverythingThroughPartialWrites) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  constexpr size_t kMessages = 400;
  server.Run([&] {
    for (size_t i = 0; i < kMessages; ++i) peer.transport()->Send(std::to_string(i) + std::string(100'000 + i, 'x'));
  });
  for (size_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(client.ReceiveText(), std::to_string(i) + std::string(100'000 + i, 'x'));
  }
}

TEST(WebSocketFlowTest, IsCongestedUntilASlowReaderCatchesUp) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  size_t sent = 0;
  bool congested = false;
  // The kernel buffers some of it. A producer that heeds congested() stops within that amount and the high mark.
  for (int turn = 0; turn < 10'000 && !congested; ++turn) {
    server.Run([&] {
      congested = peer.transport()->congested();
      if (congested) return;
      peer.transport()->Send(std::string(100'000, 'x'));
      ++sent;
    });
  }
  ASSERT_TRUE(congested);
  EXPECT_LT(sent * 100'000, 40 * kMiB);
  for (size_t i = 0; i < sent; ++i) ASSERT_EQ(client.ReceiveText().size(), 100'000u);
  EXPECT_TRUE(peer.WaitForDrained());
  server.Run([&] { EXPECT_FALSE(peer.transport()->congested()); });
}

// A peer can send pings at no cost, and the answers to them would pile up.
TEST(WebSocketFlowTest, StopsReadingAPeerThatPingsButDoesNotRead) {
  Limits limits;
  limits.high_water_bytes = 64u << 10;
  limits.low_water_bytes = 16u << 10;
  TestServer server(limits);
  auto client = WebSocketClient::Connect(server.url());
  const std::string ping = BuildFrame({.opcode = Op::kPing, .payload = std::string(125, 'p')});
  std::string pings;
  while (pings.size() < 64u << 10) pings += ping;
  size_t sent = 0;
  while (sent < 200 * kMiB) {
    const ssize_t count = ::send(client.socket().fd(), pings.data(), pings.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) sent += static_cast<size_t>(count);
    pollfd writable{.fd = client.socket().fd(), .events = POLLOUT, .revents = 0};
    if (::poll(&writable, 1, 500) == 0) break;
  }
  EXPECT_LT(sent, 100 * kMiB);
}

TEST(WebSocketFlowTest, DeliversNothingWhileReadingIsOff) {
  TestServer server(Limits(), [](Peer& peer, std::string_view message) {
    if (message == "stop") peer.transport()->SetReading(rpc::Reading::kOff);
  });
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  client.SendText("stop");
  for (int i = 0; i < 10; ++i) client.SendText(std::to_string(i));
  EXPECT_EQ(peer.WaitForMessage(), "stop");
  for (int turn = 0; turn < 50; ++turn) server.Run([] {});
  EXPECT_EQ(peer.messages(), 0u);
  server.Run([&] { peer.transport()->SetReading(rpc::Reading::kOn); });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(peer.WaitForMessage(), std::to_string(i));
}

TEST(WebSocketFlowTest, HoldsAPeerBackWhileReadingIsOff) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] { peer.transport()->SetReading(rpc::Reading::kOff); });
  const std::string frame = BuildFrame({.opcode = Op::kBinary, .payload = std::string(kMiB, 'x')});
  size_t sent = 0;
  pollfd writable{.fd = client.socket().fd(), .events = POLLOUT, .revents = 0};
  while (sent < 200 * kMiB && ::poll(&writable, 1, 300) == 1) {
    const size_t offset = sent % frame.size();
    const ssize_t count =
        ::send(client.socket().fd(), frame.data() + offset, frame.size() - offset, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) sent += static_cast<size_t>(count);
  }
  EXPECT_LT(sent, 100 * kMiB);
}

TEST(WebSocketFlowTest, PingsAtEachInterval) {
  Limits limits;
  limits.ping_interval = milliseconds(20);
  TestServer server(limits);
  auto client = WebSocketClient::Connect(server.url());
  for (int i = 0; i < 3; ++i) {
    const Received ping = client.Receive();
    EXPECT_EQ(ping.kind, Kind::kPing);
    EXPECT_EQ(ping.payload, "");
  }
}

TEST(WebSocketFlowTest, SendsNoPingsWithoutAnInterval) {
  Limits never, often;
  never.ping_interval = milliseconds(0);
  often.ping_interval = milliseconds(20);
  TestServer silent(never), noisy(often);
  auto unpinged = WebSocketClient::Connect(silent.url()), pinged = WebSocketClient::Connect(noisy.url());
  for (int i = 0; i < 5; ++i) ASSERT_EQ(pinged.Receive().kind, Kind::kPing);
  EXPECT_EQ(unpinged.Receive(milliseconds(0)).kind, Kind::kTimeout);
  Peer& peer = silent.WaitForPeer();
  silent.Run([&] { peer.transport()->Send("first"); });
  EXPECT_EQ(unpinged.Receive().payload, "first");
}

TEST(WebSocketFlowTest, KeepsAPeerThatAnswersNoPings) {
  Limits limits;
  limits.ping_interval = milliseconds(5);
  TestServer server(limits);
  auto client = WebSocketClient::Connect(server.url());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(client.Receive().kind, Kind::kPing);
  client.SendText("alive");
  EXPECT_EQ(server.WaitForPeer().WaitForMessage(), "alive");
}

TEST(WebSocketFlowTest, CloseSendsWhatIsQueuedFirst) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] {
    peer.transport()->Send("last words");
    peer.transport()->Close();
    peer.transport()->Send("too late");
    peer.transport()->Close();
  });
  EXPECT_EQ(client.ReceiveText(), "last words");
  EXPECT_EQ(client.ReceiveCloseCode(), 1001);
  client.SendClose(1000);
  EXPECT_EQ(client.Receive().kind, Kind::kEof);
  client.socket().Close();
  EXPECT_TRUE(peer.WaitForClosed());
}

TEST(WebSocketFlowTest, ClosesFromInsideTheReceiver) {
  TestServer server(Limits(), [](Peer& peer, std::string_view) { peer.transport()->Close(); });
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  client.SendText("go away");
  client.SendText("not delivered");
  EXPECT_EQ(client.ReceiveCloseCode(), 1001);
  client.SendClose(1000);
  EXPECT_EQ(client.Receive().kind, Kind::kEof);
  client.socket().Close();
  EXPECT_TRUE(peer.WaitForClosed());
  EXPECT_EQ(peer.messages(), 1u);
}

TEST(WebSocketFlowTest, ClosesWhileReadingIsOff) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] { peer.transport()->SetReading(rpc::Reading::kOff); });
  client.SendText("held");
  server.Run([&] { peer.transport()->Close(); });
  EXPECT_EQ(client.ReceiveCloseCode(), 1001);
  client.SendClose(1000);
  EXPECT_EQ(client.Receive().kind, Kind::kEof);
  client.socket().Close();
  EXPECT_TRUE(peer.WaitForClosed());
}

TEST(WebSocketFlowTest, CutsAPeerThatNeverAnswersTheClose) {
  Limits limits;
  limits.close_timeout = milliseconds(50);
  TestServer server(limits);
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] { peer.transport()->Close(); });
  EXPECT_TRUE(peer.WaitForClosed());
}

TEST(WebSocketFlowTest, CutsAPeerThatReadsNothingWhenItCloses) {
  Limits limits;
  limits.close_timeout = milliseconds(50);
  TestServer server(limits);
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] {
    peer.transport()->Send(std::string(64 * kMiB, 'x'));
    peer.transport()->Close();
  });
  EXPECT_TRUE(peer.WaitForClosed());
}

// A read would not see the end of the stream before the unread message in front of it.
TEST(WebSocketFlowTest, ClosesWhenThePeerVanishesWhileReadingIsOff) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] { peer.transport()->SetReading(rpc::Reading::kOff); });
  client.SendText("unread");
  client.socket().Close();
  EXPECT_TRUE(peer.WaitForClosed());
  EXPECT_EQ(peer.messages(), 0u);
}

TEST(WebSocketFlowTest, ClosesWhenThePeerVanishesDuringAWrite) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] {
    peer.transport()->SetReading(rpc::Reading::kOff);
    peer.transport()->Send(std::string(64 * kMiB, 'x'));
  });
  client.socket().Close();
  EXPECT_TRUE(peer.WaitForClosed());
}

}  // namespace
}  // namespace holdfast::transport
