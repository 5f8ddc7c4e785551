// Another participant of NATS that sends what no node would: it ends pipes, and does nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "rendezvous/nats/bus_fixture.h"
#include "rendezvous/nats/executor_entry.h"
#include "rendezvous/nats/nats_bus.h"
#include "rendezvous/nats/pipe_message.h"
#include "support/test_socket.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

// A client of NATS that speaks its protocol by hand.
class Intruder {
 public:
  explicit Intruder(const support::NatsServer& server)
      : socket_(support::TestSocket::Connect("ws://" + server.address())) {
    socket_.Send("CONNECT {\"verbose\":false}\r\n");
  }

  void Subscribe(const std::string& subject) { Settle("SUB " + subject + " 1\r\n"); }
  void Publish(const std::string& subject, std::string_view bytes) {
    Settle("PUB " + subject + " " + std::to_string(bytes.size()) + "\r\n" + std::string(bytes) + "\r\n");
  }
  // Sends the same message many times.
  void Flood(const std::string& subject, std::string_view bytes, int count) {
    const std::string one =
        "PUB " + subject + " " + std::to_string(bytes.size()) + "\r\n" + std::string(bytes) + "\r\n";
    std::string all;
    for (int i = 0; i < count; ++i) all += one;
    Settle(all);
  }
  // Returns the subject of the executor's end of the latest pipe, of which it has seen a message to the client's end.
  std::string LatestPipe() {
    Settle("");
    constexpr size_t kNameBytes = 36;
    const std::string beginning = "holdfast.pipe.";
    const size_t end = seen_.rfind(".c 1 ");
    return end == std::string::npos ? "" : beginning + seen_.substr(end - kNameBytes, kNameBytes) + ".e";
  }

 private:
  // Sends, and waits until the server has seen it.
  void Settle(const std::string& text) {
    socket_.Send(text + "PING\r\n");
    while (!seen_.contains("PONG\r\n") && Receive()) continue;
    seen_.erase(seen_.find("PONG\r\n"), 6);
  }
  bool Receive() {
    const auto more = socket_.ReceiveSome();
    if (!more || more->empty()) return false;
    seen_ += *more;
    return true;
  }

  support::TestSocket socket_;
  std::string seen_;
};

class NatsHostileTest : public BusFixture {
 protected:
  // Joins a pipe, sends `bytes` to the end of the executor, and expects that both ends are told.
  void ExpectEnd(std::string_view bytes) {
    TestNode a(loop, Settings()), b(loop, Settings());
    Intruder intruder(server);
    intruder.Subscribe("holdfast.pipe.>");
    const auto client = Join(a, b);
    const std::string subject = intruder.LatestPipe();
    ASSERT_NE(subject, "");
    intruder.Publish(subject, bytes);
    EXPECT_TRUE(RunUntil([&] { return b.joined[0]->ended && client->ended; }));
    EXPECT_THAT(b.joined[0]->received, IsEmpty());
    const auto another = Join(a, b, "build-2");
    another->pipe->Send("fine");
    EXPECT_TRUE(RunUntil([&] { return b.joined[1]->received == "fine"; }));
  }
};

TEST_F(NatsHostileTest, GarbageEndsAPipe) { ExpectEnd("garbage"); }

TEST_F(NatsHostileTest, AnEmptyMessageEndsAPipe) { ExpectEnd(""); }

TEST_F(NatsHostileTest, AWrongNumberEndsAPipe) {
  ExpectEnd(EncodePipeMessage({.kind = PipeMessage::Kind::kData, .number = 77, .bytes = "injected"}));
}

TEST_F(NatsHostileTest, AMessageThatIsTooLongEndsAPipe) {
  ExpectEnd(EncodePipeMessage({.kind = PipeMessage::Kind::kData, .number = 1}) + std::string(kMaxPipeData + 1, 'x'));
}

TEST_F(NatsHostileTest, MoreThanTheWindowEndsAPipe) {
  NatsSettings settings = Settings();
  settings.pipes = {.alive_interval = 60s, .silence_limit = 180s};  // no other message comes between
  TestNode a(loop, settings), b(loop, settings);
  Intruder intruder(server);
  intruder.Subscribe("holdfast.pipe.>");
  const auto client = Join(a, b);
  const std::string subject = intruder.LatestPipe();
  b.joined[0]->pipe->SetReading(Reading::kOff);
  const std::string piece(kMaxPipeData, 'x');
  for (uint64_t number = 1; number <= 17; ++number) {  // number 0 is the first word of the client's end
    intruder.Publish(subject, EncodePipeMessage({.kind = PipeMessage::Kind::kData, .number = number, .bytes = piece}));
  }
  EXPECT_TRUE(RunUntil([&] { return b.joined[0]->ended; }));
}

TEST_F(NatsHostileTest, AFloodEndsAPipeAndNothingElse) {
  TestNode a(loop, Settings()), b(loop, Settings());
  Intruder intruder(server);
  intruder.Subscribe("holdfast.pipe.>");
  const auto client = Join(a, b);
  const std::string subject = intruder.LatestPipe();
  intruder.Flood(subject, "x", 50'000);
  EXPECT_TRUE(RunUntil([&] { return b.joined[0]->ended; }));
  EXPECT_TRUE(b.bus->connected());
}

TEST_F(NatsHostileTest, RequestsThatAreNotTheNameOfAPipeAreIgnored) {
  TestNode a(loop, Settings()), b(loop, Settings());
  Wait(a, b);
  Intruder intruder(server);
  const std::string subject = "holdfast.join." + Sha256Hex("build-1");
  for (const char* request : {"", "x", "9e0d6322-5f8a-4b1c-8d2e-0123456789a>", "9E0D6322-5F8A-4B1C-8D2E-0123456789AB",
                              "9e0d6322-5f8a-4b1c-8d2e-0123456789abc"}) {
    intruder.Publish(subject, request);
  }
  ASSERT_TRUE(a.Join("build-1"));  // comes after them
  EXPECT_EQ(b.requests, 1);
}

// The executor's connection is not lost to a request whose sender has gone.
TEST_F(NatsHostileTest, AClientThatNeverSpeaksIsGivenUp) {
  NatsSettings settings = Settings();
  settings.pipes = {.alive_interval = 100ms, .silence_limit = 300ms};
  TestNode a(loop, settings), b(loop, settings);
  Wait(a, b);
  Intruder(server).Publish("holdfast.join." + Sha256Hex("build-1"), "9e0d6322-5f8a-4b1c-8d2e-0123456789ab");
  EXPECT_TRUE(RunUntil([&] { return b.joined.size() == 1; }));
  EXPECT_TRUE(RunUntil([&] { return b.joined[0]->ended; }));
}

TEST_F(NatsHostileTest, AnExecutorThatIsAskedForButNeverAnsweredForTimesOut) {
  TestNode a(loop, Settings());
  Intruder intruder(server);
  intruder.Subscribe("holdfast.join.*");
  const auto joined = a.Join("build-1");
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().kind, ErrorKind::kTimeout);
}

TEST_F(NatsHostileTest, EntriesThatAreNotRecordsAreLeftOut) {
  TestNode a(loop, Settings()), b(loop, Settings());
  b.bus->Publish({.id = "build-1", .name = "one", .since_ms = 1, .waiting = 1, .sessions = 0});
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() == 1; }));
  Intruder intruder(server);
  const std::string bucket = "$KV.holdfast-executors.";
  intruder.Publish(bucket + "junk", "junk");
  intruder.Publish(bucket + EntryKey("node", "build-2"), "{}");
  intruder.Publish(bucket + EntryKey("node", "build-2"),
                   EncodeEntry({.id = "build-3", .name = "", .since_ms = 1, .waiting = 1, .sessions = 0}));
  intruder.Publish(bucket + EntryKey("node", "last"),
                   EncodeEntry({.id = "last", .name = "", .since_ms = 1, .waiting = 1, .sessions = 0}));
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() > 1; }));
  EXPECT_EQ(a.Others().size(), 2u);
}

TEST_F(NatsHostileTest, AMalformedTicketKeyIsReplaced) {
  NatsSettings settings = Settings();
  settings.record_time_to_live = 600ms;
  TestNode a(loop, settings), b(loop, settings);
  const std::string key = a.bus->ticket_key();
  Intruder(server).Publish("$KV.holdfast-executors.ticket-key", "guessed");
  const auto end = std::chrono::steady_clock::now() + 1s;  // several refreshes
  EXPECT_TRUE(RunUntil([&] { return std::chrono::steady_clock::now() >= end; }));
  TestNode c(loop, settings);
  for (TestNode* node : {&a, &b, &c}) EXPECT_EQ(node->bus->ticket_key(), key);
}

}  // namespace
}  // namespace holdfast::rendezvous
