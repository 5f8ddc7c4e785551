#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "support/web_socket_client.h"
#include "transport/test_server.h"

namespace holdfast::transport {
namespace {

using support::BuildFrame;
using support::TestSocket;
using support::WebSocketClient;
using ::testing::StartsWith;

// Returns the answer, up to the end of the server's stream.
std::string Ask(const std::string& url, std::string_view request) {
  TestSocket socket = TestSocket::Connect(url);
  socket.Send(request);
  return socket.ReceiveAll().value_or("no end of the answer");
}

TEST(TcpListenerTest, PutsTheSecretIntoItsUrl) {
  loop::EventLoop loop;
  const auto listener = ListenWebSocket(loop, {.ip = "127.0.0.1"}, Limits(),
                                        {.routes = TestRoutes(), .authorizer = {.secret = "s3cret"}}, [](auto) {});
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_THAT((*listener)->url(), testing::MatchesRegex("ws://127\\.0\\.0\\.1:[0-9]+/s3cret"));
}

// Probes are answered for every peer, because a monitor may be another user.
TEST(TcpListenerTest, UpgradesOnlyPeersThatAreAdmitted) {
  std::vector<int> asked;
  TestServer server([&](loop::EventLoop& loop, OnConnection on_connection) {
    const auto refuse = [&](const Credentials& credentials) {
      asked.push_back(credentials.socket);
      return std::optional(HttpRefusal{HttpRefusal::Status::kForbidden, "not you"});
    };
    return ListenWebSocket(loop, {.ip = "127.0.0.1"}, Limits(),
                           {.routes = TestRoutes(), .authorizer = {.refuse = refuse}}, std::move(on_connection));
  });
  EXPECT_THAT(Ask(server.url(), "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"), testing::StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(server.url(), support::WebSocketClient::UpgradeRequest()), testing::StartsWith("HTTP/1.1 403 "));
  server.Run([&] { EXPECT_EQ(asked.size(), 1u); });
}

TEST(TcpListenerTest, SaysItsUrlWithTheRealPort) {
  TestServer server;
  EXPECT_THAT(server.url(), StartsWith("ws://127.0.0.1:"));
  EXPECT_NE(server.url(), "ws://127.0.0.1:0");
}

TEST(TcpListenerTest, ListensOnIpv6) {
  TestServer server([](loop::EventLoop& loop, OnConnection on_connection) {
    return ListenWebSocket(loop, {.ip = "::1"}, Limits(), {.routes = TestRoutes()}, std::move(on_connection));
  });
  EXPECT_THAT(server.url(), StartsWith("ws://[::1]:"));
  WebSocketClient::Connect(server.url()).SendText("six");
  EXPECT_EQ(server.WaitForPeer().WaitForMessage(), "six");
}

TEST(TcpListenerTest, FailsOnAPortInUse) {
  TestServer server;
  loop::EventLoop loop;
  const auto port = static_cast<uint16_t>(std::stoi(server.url().substr(server.url().rfind(':') + 1)));
  const auto second =
      ListenWebSocket(loop, {.ip = "127.0.0.1", .port = port}, Limits(), {.routes = TestRoutes()}, [](auto) {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message, "bind 127.0.0.1:" + std::to_string(port) + ": Address already in use");
}

TEST(TcpListenerTest, AnswersHttpAndEndsTheStream) {
  TestServer server;
  const std::string url = server.url();
  EXPECT_THAT(Ask(url, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(Ask(url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask(url, WebSocketClient::UpgradeRequest("/other")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask(url, WebSocketClient::UpgradeRequest("/", "Origin: http://evil\r\n")), StartsWith("HTTP/1.1 403 "));
}

// If the server closed the socket with an unread body, it would reset the connection, and its answer would be lost.
TEST(TcpListenerTest, AnswersARequestWhoseBodyItDoesNotRead) {
  TestServer server;
  const std::string body(3u << 20, 'b');
  TestSocket socket = TestSocket::Connect(server.url());
  socket.Send("POST /readyz HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  socket.Send(body);
  EXPECT_THAT(socket.ReceiveAll().value_or(""), StartsWith("HTTP/1.1 405 "));
}

TEST(TcpListenerTest, RefusesAnEndlessHead) {
  TestServer server;
  EXPECT_THAT(Ask(server.url(), "GET / HTTP/1.1\r\nCookie: " + std::string(9'000, 'c')), StartsWith("HTTP/1.1 431 "));
}

TEST(TcpListenerTest, RefusesALongHeadThatIsComplete) {
  TestServer server;
  EXPECT_THAT(Ask(server.url(), "GET / HTTP/1.1\r\nCookie: " + std::string(9'000, 'c') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
}

TEST(TcpListenerTest, CutsAPeerThatDoesNotFinishItsRequest) {
  Limits limits;
  limits.head_timeout = std::chrono::milliseconds(50);
  TestServer server(limits);
  TestSocket silent = TestSocket::Connect(server.url());
  EXPECT_EQ(Ask(server.url(), "GET /readyz HTTP/1.1\r\nHost: x\r\n"), "");
  EXPECT_EQ(silent.ReceiveAll(), "");
}

TEST(TcpListenerTest, DismissesSilentPeersBeforeOneThatHasBegun) {
  constexpr std::string_view kProbe = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n";
  TestServer server;
  TestSocket first_silent = TestSocket::Connect(server.url());
  TestSocket begun = TestSocket::Connect(server.url());
  begun.Send(kProbe.substr(0, 10));
  EXPECT_THAT(Ask(server.url(), kProbe), StartsWith("HTTP/1.1 200 "));  // the server has read what came before it
  std::vector<TestSocket> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(TestSocket::Connect(server.url()));
  EXPECT_EQ(first_silent.ReceiveAll(), "");
  begun.Send(kProbe.substr(10));
  EXPECT_THAT(begun.ReceiveAll().value_or(""), StartsWith("HTTP/1.1 200 "));
}

TEST(TcpListenerTest, TakesARequestThatArrivesByteByByte) {
  TestServer server;
  TestSocket socket = TestSocket::Connect(server.url());
  for (const char byte : WebSocketClient::UpgradeRequest()) {
    socket.Send(std::string_view(&byte, 1));
    server.Run([] {});
  }
  EXPECT_THAT(socket.ReceiveSome().value_or(""), StartsWith("HTTP/1.1 101 "));
}

TEST(TcpListenerTest, OffersNoExtensionAndNoSubprotocol) {
  TestServer server;
  TestSocket socket = TestSocket::Connect(server.url());
  socket.Send(WebSocketClient::UpgradeRequest(
      "/", "Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: chat\r\n"));
  const std::string head = socket.ReceiveSome().value_or("");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 101 "));
  EXPECT_FALSE(head.contains("Extensions")) << head;
  EXPECT_FALSE(head.contains("Sec-WebSocket-Protocol")) << head;
}

TEST(TcpListenerTest, DeliversFramesSentRightBehindTheUpgrade) {
  TestServer server;
  TestSocket socket = TestSocket::Connect(server.url());
  std::string early;
  for (int i = 0; i < 50; ++i) early += BuildFrame({.payload = "early " + std::to_string(i)});
  socket.Send(WebSocketClient::UpgradeRequest() + early);
  Peer& peer = server.WaitForPeer();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(peer.WaitForMessage(), "early " + std::to_string(i));
}

TEST(TcpListenerTest, RefusesConnectionsAboveTheLimitAndTakesThemAgainBelowIt) {
  Limits limits;
  limits.max_connections = 2;
  TestServer server(limits);
  auto first = WebSocketClient::Connect(server.url());
  auto second = WebSocketClient::Connect(server.url());
  EXPECT_THAT(Ask(server.url(), WebSocketClient::UpgradeRequest()), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Ask(server.url(), "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  first.socket().Close();
  EXPECT_TRUE(server.WaitForPeer().WaitForClosed());
  WebSocketClient::Connect(server.url());
}

TEST(TcpListenerTest, StopLeavesConnectionsAliveAndTakesNoFurther) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  TestSocket undecided = TestSocket::Connect(server.url());
  undecided.Send("GET /read");
  server.Stop();
  client.SendText("still here");
  EXPECT_EQ(peer.WaitForMessage(), "still here");
  EXPECT_EQ(undecided.ReceiveAll(), "");
}

TEST(TcpListenerTest, NamesThePeer) {
  TestServer server;
  auto client = WebSocketClient::Connect(server.url());
  Peer& peer = server.WaitForPeer();
  server.Run([&] { EXPECT_THAT(std::string(peer.transport()->peer()), StartsWith("127.0.0.1:")); });
}

// If no descriptor is left, accept fails with EMFILE. The connection waits in the backlog and is served later.
TEST(TcpListenerTest, OutlivesALackOfDescriptors) {
  TestServer server;
  TestSocket client = TestSocket::Connect(server.url());
  server.Run([] {});
  TestSocket waiting(OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ASSERT_EQ(::getpeername(client.fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  ASSERT_EQ(::connect(waiting.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
  for (int turn = 0; turn < 100; ++turn) server.Run([] {});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  waiting.Send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(waiting.ReceiveAll().value_or(""), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace holdfast::transport
