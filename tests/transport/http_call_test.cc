#include "transport/http_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/web_socket_client.h"
#include "transport/call_server.h"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using support::RunUntil;
using support::WebSocketClient;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET /list HTTP/1.1\r\nHost: x\r\n\r\n";

std::string Post(std::string_view body, std::string_view headers = "") {
  return "POST /register HTTP/1.1\r\nHost: x\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

// Tests of what does not depend on the stream, and those that do.
class HttpCallTest : public testing::Test {};
class HttpCallStreamTest : public testing::TestWithParam<Security> {};
INSTANTIATE_TEST_SUITE_P(, HttpCallStreamTest, testing::Values(Security::kPlain, Security::kTls),
                         [](const auto& test) { return test.param == Security::kTls ? "Tls" : "Plain"; });

TEST_F(HttpCallTest, FindsHeadersWithoutRegardToCase) {
  const HttpMessage message{.headers = {{"Accept", "a"}, {"X-Accept", "b"}, {"aCCEPT", "c"}}};
  EXPECT_THAT(message.HeaderValues("accept"), ElementsAre("a", "c"));
  EXPECT_THAT(message.HeaderValues("Host"), ElementsAre());
}

TEST_P(HttpCallStreamTest, ShowsTheRequestAndSendsTheAnswer) {
  CallServer server(GetParam());
  CallClient client =
      server.Call("PUT /a%20b?c=d?e HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nContent-Length: 4\r\n\r\nbody");
  HttpCall& call = *server.calls.front();
  EXPECT_EQ(call.request().method, "PUT");
  EXPECT_EQ(call.request().path, "/a%20b");
  EXPECT_EQ(call.request().query, "c=d?e");
  EXPECT_EQ(call.request().body, "body");
  EXPECT_THAT(call.request().HeaderValues("authorization"), ElementsAre("Bearer t"));
  EXPECT_THAT(std::string(call.peer()), StartsWith("127.0.0.1:"));
  EXPECT_GE(call.socket(), 0);
  EXPECT_FALSE(call.asks_for_web_socket());
  EXPECT_FALSE(call.gone());
  call.Answer({.status = 503, .body = "{}", .content_type = "application/json", .headers = {{"Retry-After", "1"}}});
  server.calls.clear();
  EXPECT_EQ(server.Answer(client),
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: application/json\r\n"
            "Content-Length: 2\r\nConnection: close\r\n\r\n{}");
}

TEST_F(HttpCallTest, LeavesRoutesToTheListener) {
  CallServer server;
  CallClient client = server.Connect();
  client.Send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(server.Answer(client), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(server.calls.empty());
}

TEST_F(HttpCallTest, RefusesABrowser) {
  CallServer server;
  CallClient client = server.Connect();
  client.Send("GET /list HTTP/1.1\r\nHost: x\r\nOrigin: http://evil\r\n\r\n");
  EXPECT_THAT(server.Answer(client), StartsWith("HTTP/1.1 403 "));
  EXPECT_TRUE(server.calls.empty());
}

TEST_P(HttpCallStreamTest, TakesARequestThatArrivesByteByByte) {
  CallServer server(GetParam());
  CallClient client = server.Connect();
  for (const char byte : Post("the body")) {
    EXPECT_TRUE(server.calls.empty());
    client.Send(std::string_view(&byte, 1));
    support::RunReady(server.loop);
  }
  ASSERT_TRUE(RunUntil(server.loop, [&] { return !server.calls.empty(); }));
  EXPECT_EQ(server.calls.front()->request().body, "the body");
}

TEST_P(HttpCallStreamTest, TakesTheLongestBody) {
  CallServer server(GetParam());
  const std::string body(kMaxHttpBodyBytes, 'b');
  CallClient client = server.Call(Post(body));
  EXPECT_TRUE(server.calls.front()->request().body == body);
}

// The answer must not be lost, although the body is not read.
TEST_F(HttpCallTest, RefusesALongerBody) {
  CallServer server;
  CallClient client = server.Connect();
  client.Send(Post(std::string(kMaxHttpBodyBytes + 1, 'b')));
  EXPECT_THAT(server.Answer(client), StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpCallTest, TellsAPeerThatWaitsToSendItsBody) {
  CallServer server;
  CallClient client = server.Connect();
  const std::string request = Post("late", "Expect: 100-continue\r\n");
  client.Send(request.substr(0, request.size() - 4));
  ASSERT_TRUE(RunUntil(server.loop, [&] { return !client.received().empty(); }));
  EXPECT_EQ(client.received(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("late");
  ASSERT_TRUE(RunUntil(server.loop, [&] { return !server.calls.empty(); }));
  EXPECT_EQ(server.calls.front()->request().body, "late");
}

TEST_F(HttpCallTest, DoesNotTellAPeerThatHasBegunToSendItsBody) {
  CallServer server;
  CallClient client = server.Call(Post("early", "Expect: 100-continue\r\n"));
  server.calls.front()->Answer({.body = "done"});
  EXPECT_THAT(server.Answer(client), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpCallTest, CutsAPeerThatDoesNotFinishItsBody) {
  CallServer server(Security::kPlain, {.head_timeout = 50ms});
  CallClient client = server.Connect();
  client.Send(Post("body").substr(0, Post("body").size() - 1));
  EXPECT_EQ(server.Answer(client), "");
  EXPECT_TRUE(server.calls.empty());
}

TEST_F(HttpCallTest, LeavesOutTheBodyForHead) {
  CallServer server;
  CallClient client = server.Call("HEAD /list HTTP/1.1\r\nHost: x\r\n\r\n");
  server.calls.front()->Answer({.body = "12345"});
  EXPECT_THAT(server.Answer(client), EndsWith("\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"));
}

// The client reads only when the server has written what the sockets hold.
TEST_P(HttpCallStreamTest, SendsALongAnswerWhole) {
  CallServer server(GetParam());
  CallClient client = server.Call(kGet);
  std::string body;
  while (body.size() < 8u << 20) body += std::to_string(body.size()) + ",";
  server.calls.front()->Answer({.body = body});
  server.calls.clear();
  support::RunReady(server.loop);
  const std::string answer = server.Answer(client);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + body)) << answer.size() << " bytes of " << body.size();
}

TEST_P(HttpCallStreamTest, SendsALongAnswerToAPeerThatHasEndedItsSide) {
  CallServer server(GetParam());
  CallClient client = server.Call(kGet);
  const std::string body(8u << 20, 'x');
  server.calls.front()->Answer({.body = body});
  client.EndWriting();
  support::RunReady(server.loop);
  EXPECT_TRUE(server.Answer(client).ends_with("\r\n\r\n" + body));
}

TEST_P(HttpCallStreamTest, CutsAPeerThatDoesNotReadItsAnswer) {
  CallServer server(GetParam(), {.max_connections = 1, .head_timeout = 100ms, .close_timeout = 60s});
  CallClient client = server.Call(kGet);
  server.calls.front()->Answer({.body = std::string(32u << 20, 'x')});
  server.calls.clear();
  EXPECT_TRUE(RunUntil(server.loop, [&] {
    CallClient next = server.Connect();
    next.Send(kGet);
    support::RunReady(server.loop);
    return !server.calls.empty();  // the slot has been given back
  }));
  EXPECT_LT(server.Answer(client).size(), 32u << 20);
}

// Without this, the owner of the call would not count answers that are not read.
TEST_P(HttpCallStreamTest, KeepsTheSlotOfItsOwnerUntilThePeerIsGone) {
  CallServer server(GetParam(), {.head_timeout = 60s, .close_timeout = 60s});
  CallClient client = server.Call(kGet);
  Slot slot = std::make_shared<int>();
  const std::weak_ptr<const void> held = slot;
  server.calls.front()->Answer({.body = std::string(32u << 20, 'x'), .slot = std::move(slot)});
  server.calls.clear();
  support::RunReady(server.loop);
  EXPECT_FALSE(held.expired());
  client.HangUp();
  EXPECT_TRUE(RunUntil(server.loop, [&] { return held.expired(); }));
}

TEST_P(HttpCallStreamTest, NoticesThatThePeerHasHungUp) {
  CallServer server(GetParam());
  CallClient client = server.Call(kGet);
  const HttpCall& call = *server.calls.front();
  support::RunReady(server.loop);
  EXPECT_FALSE(call.gone());
  client.HangUp();
  EXPECT_TRUE(RunUntil(server.loop, [&] { return call.gone(); }));
}

TEST_P(HttpCallStreamTest, NoticesAHangUpBehindBytesOfThePeer) {
  for (const size_t size : {100u, 60'000u}) {
    CallServer server(GetParam());
    CallClient client = server.Call(kGet);
    client.Send(std::string(size, 'x'));
    support::RunReady(server.loop);
    EXPECT_FALSE(server.calls.front()->gone());
    client.HangUp();
    EXPECT_TRUE(RunUntil(server.loop, [&] { return server.calls.front()->gone(); })) << size;
  }
}

TEST_P(HttpCallStreamTest, TakesAPeerForGoneThatSendsWithoutEnd) {
  CallServer server(GetParam());
  CallClient client = server.Call(kGet);
  client.Send(std::string(66'000, 'x'));
  EXPECT_TRUE(RunUntil(server.loop, [&] { return server.calls.front()->gone(); }));
}

TEST_P(HttpCallStreamTest, ClosesTheSocketOfACallThatIsDropped) {
  CallServer server(GetParam());
  CallClient client = server.Call(kGet);
  server.calls.clear();
  EXPECT_EQ(server.Answer(client), "");
}

TEST_F(HttpCallTest, CallsThatWaitDoNotPushEachOtherOut) {
  CallServer server;
  std::vector<CallClient> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(server.Call(kGet));
  support::RunReady(server.loop);
  for (auto& call : server.calls) {
    EXPECT_FALSE(call->gone());
    call->Answer({.body = "done"});
  }
  for (CallClient& client : clients) ASSERT_THAT(server.Answer(client), EndsWith("done"));
}

TEST_F(HttpCallTest, CountsAgainstTheLimitOfConnectionsUntilThePeerHasItsAnswer) {
  CallServer server(Security::kPlain, {.max_connections = 1, .close_timeout = 60s});
  CallClient client = server.Call(kGet);
  CallClient refused = server.Connect();
  refused.Send(kGet);
  EXPECT_THAT(server.Answer(refused), StartsWith("HTTP/1.1 503 "));
  server.calls.front()->Answer({.body = "done"});
  server.calls.clear();
  EXPECT_THAT(server.Answer(client), EndsWith("done"));
  client.Send("more");
  support::RunReady(server.loop);
  client.HangUp();
  support::RunReady(server.loop);
  server.Call(kGet);
}

TEST_P(HttpCallStreamTest, GivesTheSocketAwayForAWebSocket) {
  CallServer server(GetParam(), {.max_connections = 1});
  CallClient client = server.Call(WebSocketClient::UpgradeRequest("/executors/a"));
  client.Send("early");
  support::RunReady(server.loop);
  EXPECT_FALSE(server.calls.front()->gone());
  ASSERT_TRUE(server.calls.front()->asks_for_web_socket());
  UpgradedSocket socket = server.calls.front()->TakeUpgrade();
  server.calls.clear();
  EXPECT_EQ(socket.key.size(), 24u);
  EXPECT_EQ(socket.early_input, "early");
  EXPECT_TRUE(socket.slot);
  EXPECT_THAT(socket.peer, StartsWith("127.0.0.1:"));
  const iovec bytes{const_cast<char*>("late"), 4};
  EXPECT_EQ(socket.stream->Write(std::span(&bytes, 1)), 4);
  socket.stream->EndWriting();
  EXPECT_EQ(server.Answer(client), "late");
}

TEST_F(HttpCallTest, CanBeAnsweredWhenTheListenerHasStopped) {
  CallServer server;
  CallClient client = server.Call(kGet);
  server.listener.reset();
  server.calls.front()->Answer({.body = "goodbye"});
  EXPECT_THAT(server.Answer(client), EndsWith("goodbye"));
}

TEST_F(HttpCallTest, MayDestroyTheListenerAsItArrives) {
  loop::EventLoop loop;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<HttpCall> call;
  HttpFrontOptions options{.routes = {}};
  options.on_call = [&](std::unique_ptr<HttpCall> arrived) {
    call = std::move(arrived);
    listener.reset();
  };
  listener = *ListenWebSocket(loop, {.ip = "127.0.0.1"}, {}, std::move(options), [](auto) {});
  auto socket = support::TestSocket::Connect(listener->url());
  socket.Send(kGet);
  ASSERT_TRUE(RunUntil(loop, [&] { return call != nullptr; }));
  call->Answer({.body = "goodbye"});
  EXPECT_THAT(socket.ReceiveAll().value_or(""), EndsWith("goodbye"));
}

}  // namespace
}  // namespace holdfast::transport
