#include "exec_server/http/http_exchange.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec_server/http/http_fixture.h"
#include "support/loop_runner.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr size_t kMebibyte = 1u << 20;

// Returns a piece of an endless body in which every byte is known.
std::string Piece(size_t from, size_t size) {
  std::string piece(size, '\0');
  for (size_t i = 0; i < size; ++i) piece[i] = static_cast<char>('a' + (from + i) / 1000 % 26);
  return piece;
}

// An HTTP server that sends a long body, and notes when its peer has read nothing for a while.
struct LongBody {
  size_t bytes;
  std::atomic<size_t> sent = 0;
  std::atomic<bool> held_back = false;

  void operator()(const HttpArrival&, HttpPeer& peer) {
    peer.Send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes));
    while (sent < bytes) {
      pollfd entry{.fd = peer.fd(), .events = POLLOUT, .revents = 0};
      if (::poll(&entry, 1, 200) == 0) held_back = true;
      const size_t size = std::min(bytes - sent, size_t{100'000});
      if (!peer.Send(Piece(sent, size))) return;
      sent += size;
    }
  }
};

// The parts of a streamed response that have arrived.
struct Streamed {
  std::string body;
  bool done = false;
  std::optional<std::string> error;
};

class HttpExchangeTest : public HttpFixture {
 protected:
  static std::string Stream(std::string_view url, std::string_view id = "s", std::string_view more = "") {
    return Params("GET", url, fmt::format(R"("streamResponse":true{}{})", more.empty() ? "" : ",", more), id);
  }

  // Returns the client's deltas so far, and checks that their numbers have no gap.
  static Streamed DeltasOf(const Client& client, std::string_view id = "s") {
    Streamed streamed;
    int64_t seq = 0;
    for (const Message& delta : client.Notifications("http/request/bodyDelta")) {
      if (delta.Text("params.requestId") != id) continue;
      EXPECT_FALSE(streamed.done) << delta;
      EXPECT_EQ(delta.Number("params.seq"), ++seq);
      streamed.done = delta.Flag("params.done");
      EXPECT_EQ(delta.Text("params.deltaBase64").empty(), streamed.done);
      streamed.body += delta.Bytes("params.deltaBase64");
      if (!delta.IsNull("params.error")) streamed.error = delta.Text("params.error");
      EXPECT_TRUE(streamed.done || !streamed.error) << delta;
    }
    return streamed;
  }

  static bool HasEnded(const Client& client, std::string_view id = "s") {
    const std::string quoted = support::Quoted(id);
    return std::ranges::any_of(client.sent(), [&](const std::string& text) {
      return text.contains(R"("done":true)") && text.contains(R"("requestId":)" + quoted);
    });
  }

  Streamed AwaitEnd(const Client& client, std::string_view id = "s") {
    EXPECT_TRUE(RunUntil([&] { return HasEnded(client, id); }));
    return DeltasOf(client, id);
  }

  bool RunUntilBody(const Client& client, std::string_view id = "s") {
    return RunUntil([&] { return !DeltasOf(client, id).body.empty(); });
  }
};

TEST_F(HttpExchangeTest, AnswersFirstAndThenStreams) {
  const std::string body("\0\xff text", 7);
  HttpServer server([&](const HttpArrival&, HttpPeer& peer) { peer.Answer(203, body, "X-Y: z\r\n"); });
  Client& client = ConnectReady();
  client.Forget();
  const int id = client.Ask("http/request", Stream(server.Url()));
  const Streamed streamed = AwaitEnd(client);
  EXPECT_EQ(streamed.body, body);
  EXPECT_EQ(streamed.error, std::nullopt);
  const Message answer(client.sent().front());
  EXPECT_EQ(answer.Number("id"), id);
  EXPECT_EQ(answer.Number("result.status"), 203);
  EXPECT_EQ(answer.Text("result.bodyBase64"), "");
  EXPECT_THAT(HeadersOf(answer), testing::ElementsAre("x-y: z", "content-length: 7"));
}

TEST_F(HttpExchangeTest, StreamsWhatHasComeBeforeTheEnd) {
  HttpServer server(SayHalf);
  EXPECT_EQ(CodeOf(Stream(server.Url())), 0);
  EXPECT_TRUE(RunUntilBody(Me()));
  EXPECT_EQ(DeltasOf(Me()).body, "half");
  EXPECT_FALSE(HasEnded(Me()));
}

TEST_F(HttpExchangeTest, StreamsBodiesOfAnyLength) {
  config_.max_http_body_bytes = 10;
  Boot();
  LongBody script{2 * kMebibyte};
  HttpServer server(std::ref(script));
  EXPECT_EQ(CodeOf(Stream(server.Url())), 0);
  const Streamed streamed = AwaitEnd(Me());
  EXPECT_TRUE(streamed.body == Piece(0, script.bytes));
  EXPECT_EQ(streamed.error, std::nullopt);
}

TEST_F(HttpExchangeTest, EndsAtOnceWithoutABody) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    peer.Send(arrival.method == "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
                                       : "HTTP/1.1 204 No Content\r\n\r\n");
  });
  EXPECT_EQ(CodeOf(Params("HEAD", server.Url(), R"("streamResponse":true)", "head")), 0);
  EXPECT_EQ(CodeOf(Stream(server.Url(), "empty")), 0);
  for (const char* id : {"head", "empty"}) {
    const Streamed streamed = AwaitEnd(Me(), id);
    EXPECT_EQ(streamed.body, "");
    EXPECT_EQ(streamed.error, std::nullopt);
  }
  EXPECT_THAT(Me().Notifications("http/request/bodyDelta"), SizeIs(2));
}

TEST_F(HttpExchangeTest, NamesEachStreamByItsIdWhateverThatIs) {
  HttpServer server(EchoRequest);
  for (const char* id : {"", "\"quoted\"\n", "caf\xc3\xa9"}) {
    EXPECT_EQ(CodeOf(Stream(server.Url(), id)), 0);
    EXPECT_TRUE(AwaitEnd(Me(), id).done);
  }
}

TEST_F(HttpExchangeTest, SaysThatTheServerDied) {
  HttpServer server(DieHalfway);
  EXPECT_EQ(CodeOf(Stream(server.Url())), 0);
  const Streamed streamed = AwaitEnd(Me());
  EXPECT_EQ(streamed.body, "half");
  EXPECT_THAT(streamed.error.value_or(""), HasSubstr(server.Url()));
}

TEST_F(HttpExchangeTest, SaysThatTheTimeIsOver) {
  HttpServer server(SayHalf);
  EXPECT_EQ(CodeOf(Get(kNobody)), -32603);  // loads the library
  EXPECT_EQ(CodeOf(Stream(server.Url(), "s", R"("timeoutMs":3000)")), 0);
  EXPECT_THAT(AwaitEnd(Me()).error.value_or(""), HasSubstr("timed out after 3000 ms"));
  EXPECT_TRUE(RunUntilHangUp(server));
}

TEST_F(HttpExchangeTest, StreamsNothingOfAFailedStart) {
  HttpServer silent(SayNothing);
  EXPECT_EQ(CodeOf(Stream(kNobody)), -32603);
  EXPECT_EQ(CodeOf(Stream(silent.Url(), "s", R"("timeoutMs":20)")), -32603);
  EXPECT_EQ(CodeOf(Stream("ftp://127.0.0.1/")), -32602);
  EXPECT_FALSE(Me().Got("http/request/bodyDelta"));
  HttpServer server(EchoRequest);
  EXPECT_EQ(CodeOf(Stream(server.Url())), 0);  // the failed requests have not kept the id
  EXPECT_TRUE(AwaitEnd(Me()).done);
}

TEST_F(HttpExchangeTest, RefusesAnIdThatIsBeingStreamed) {
  HttpServer server(SayHalf);
  Me().Ask("http/request", Stream(server.Url()));
  EXPECT_EQ(CodeOf(Stream(server.Url())), -32602);  // the id is in use even before the first request is answered
  EXPECT_TRUE(RunUntilBody(Me()));
  EXPECT_EQ(CodeOf(Stream(server.Url())), -32602);
  EXPECT_EQ(CodeOf(Stream(server.Url(), "other")), 0);
  EXPECT_EQ(Call(ConnectReady(), "http/request", Stream(server.Url())).error_code(), 0);
}

TEST_F(HttpExchangeTest, GivesTheIdBackAtTheEnd) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    arrival.target == "/dies" ? DieHalfway(arrival, peer) : EchoRequest(arrival, peer);
  });
  for (const char* target : {"/", "/dies", "/"}) {
    Me().Forget();
    EXPECT_EQ(CodeOf(Stream(server.Url(target))), 0) << target;
    EXPECT_TRUE(AwaitEnd(Me()).done) << target;  // the numbers begin at 1 again
  }
}

TEST_F(HttpExchangeTest, ComparesIdsOfStreamsAlone) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    arrival.target == "/echo" ? EchoRequest(arrival, peer) : SayHalf(arrival, peer);
  });
  Me().Ask("http/request", Params("GET", server.Url("/whole"), "", "s"));
  EXPECT_EQ(CodeOf(Stream(server.Url("/stream"))), 0);
  EXPECT_EQ(CodeOf(Params("GET", server.Url("/echo"), "", "s")), 0);
}

TEST_F(HttpExchangeTest, StreamsSeveralAtOnce) {
  LongBody one{kMebibyte}, two{kMebibyte};
  HttpServer first(std::ref(one)), second(std::ref(two)), echo(EchoRequest);
  Me().Ask("http/request", Stream(first.Url(), "1"));
  Me().Ask("http/request", Stream(second.Url(), "2"));
  EXPECT_EQ(CodeOf(Get(echo.Url())), 0);
  EXPECT_TRUE(AwaitEnd(Me(), "1").body == Piece(0, one.bytes));
  EXPECT_TRUE(AwaitEnd(Me(), "2").body == Piece(0, two.bytes));
}

TEST_F(HttpExchangeTest, HoldsTheServerBackForAClientThatDoesNotRead) {
  LongBody script{32 * kMebibyte};
  HttpServer server(std::ref(script)), other(EchoRequest);
  Client& client = ConnectReady();
  client.transport->is_congested = true;
  client.Ask("http/request", Stream(server.Url()));
  ASSERT_TRUE(RunUntil([&] { return script.held_back.load(); }));
  EXPECT_LT(script.sent, script.bytes);
  EXPECT_LT(DeltasOf(client).body.size(), kMebibyte);
  EXPECT_EQ(Call(ConnectReady(), "http/request", Get(other.Url())).error_code(), 0);  // other clients do not wait
  client.transport->Drain();
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return client.sent().back().contains(R"("done":true)"); }, 60s));
  const Streamed streamed = DeltasOf(client);
  EXPECT_EQ(streamed.error, std::nullopt);
  EXPECT_TRUE(streamed.body == Piece(0, script.bytes));
}

TEST_F(HttpExchangeTest, GoesOnAPieceAtATimeForAClientThatReadsSlowly) {
  LongBody script{2 * kMebibyte};
  HttpServer server(std::ref(script));
  Client& client = ConnectReady();
  client.transport->is_congested = true;
  client.Ask("http/request", Stream(server.Url()));
  int drains = 0;
  for (size_t messages = 2; !HasEnded(client); ++drains) {  // the answers to initialize and to the request
    ASSERT_TRUE(RunUntil([&] { return client.sent().size() > messages; }));
    messages = client.sent().size();
    client.transport->Drain();
    client.transport->is_congested = true;
  }
  EXPECT_GT(drains, 4);
  EXPECT_TRUE(DeltasOf(client).body == Piece(0, script.bytes));
}

TEST_F(HttpExchangeTest, TellsTheEndToAClientThatDoesNotRead) {
  HttpServer server(DieHalfway);
  Client& client = ConnectReady();
  client.transport->is_congested = true;
  client.Ask("http/request", Stream(server.Url()));
  EXPECT_TRUE(RunUntilBody(client));
  client.transport->Drain();
  EXPECT_NE(AwaitEnd(client).error, std::nullopt);
}

TEST_F(HttpExchangeTest, HoldsNoWholeBodyBack) {
  LongBody script{2 * kMebibyte};
  HttpServer server(std::ref(script));
  Me().transport->is_congested = true;
  EXPECT_EQ(Request(Get(server.Url())).Bytes("result.bodyBase64").size(), script.bytes);
}

TEST_F(HttpExchangeTest, CancelsWithTheConnection) {
  HttpServer flood(Flood), slow(SayHalf);
  for (const HttpServer* server : {&flood, &slow}) {
    Client& client = ConnectReady();
    client.Ask("http/request", Stream(server->Url()));
    ASSERT_TRUE(RunUntilBody(client));
    client.Forget();
    client.transport->Disconnect();
    EXPECT_TRUE(RunUntilHangUp(*server));
    EXPECT_THAT(client.sent(), IsEmpty());
  }
}

TEST_F(HttpExchangeTest, CancelsWhatIsHeldBackWithTheConnection) {
  HttpServer server(Flood);
  Client& client = ConnectReady();
  client.transport->is_congested = true;
  client.Ask("http/request", Stream(server.Url()));
  ASSERT_TRUE(RunUntilBody(client));
  client.transport->Disconnect();
  EXPECT_TRUE(RunUntilHangUp(server));
}

// The test takes the whole budget, as if other clients held it.
TEST_F(HttpExchangeTest, RefusesALongBodyWithoutRoomAndTakesAShortOne) {
  HttpServer server([](const HttpArrival& arrival, HttpPeer& peer) {
    peer.Answer(200, std::string(arrival.target == "/long" ? kMebibyte : 1000, 'x'));
  });
  Me();
  auto others = parts_->held->Open();
  others.Resize(config_.max_held_bytes);
  const Message refused = Request(Get(server.Url("/long")));
  EXPECT_EQ(refused.error_code(), -32600);
  EXPECT_THAT(refused.Text("error.message"), HasSubstr("max_held_bytes"));
  EXPECT_EQ(Request(Get(server.Url("/short"))).Number("result.status"), 200);
  others = {};
  EXPECT_EQ(Request(Get(server.Url("/long"))).Bytes("result.bodyBase64").size(), kMebibyte);
  EXPECT_EQ(parts_->held->held(), 0u);
}

// Each request costs some hundred kilobytes while it is under way, even if its response is short.
TEST_F(HttpExchangeTest, RefusesManyRequestsAtOnceWithoutRoom) {
  HttpServer server(SayNothing);
  auto others = parts_->held->Open();
  others.Resize(config_.max_held_bytes);
  Client& client = Me();
  std::vector<int> asked;
  for (size_t i = 0; i <= HttpExchanges::kFreeExchanges; ++i)
    asked.push_back(client.Ask("http/request", Get(server.Url())));
  ASSERT_TRUE(client.AnswerTo(asked.back()).has_value());
  EXPECT_EQ(client.AnswerTo(asked.back())->error_code(), -32600);
  EXPECT_FALSE(client.AnswerTo(asked.front()).has_value());
  others = {};
  EXPECT_FALSE(client.AnswerTo(client.Ask("http/request", Get(server.Url()))).has_value());
  EXPECT_GT(parts_->held->held(), 0u);
}

}  // namespace
}  // namespace holdfast::exec_server
