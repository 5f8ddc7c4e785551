// A bus whose NATS server goes away and comes back, with nothing of what it knew.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/nats/bus_fixture.h"
#include "rendezvous/nats/nats_bus.h"
#include "support/test_socket.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;

class NatsRestartTest : public BusFixture {
 protected:
  // Sends a request to JetStream and waits for the answer.
  void Administrate(const std::string& request, const std::string& body = "") const {
    auto socket = support::TestSocket::Connect("ws://" + server.address());
    ASSERT_TRUE(
        socket.Send(fmt::format("CONNECT {{\"verbose\":false}}\r\nSUB answer 1\r\nPUB $JS.API.{} answer {}\r\n{}\r\n",
                                request, body.size(), body)));
    std::string seen;
    while (!seen.contains("MSG answer")) {
      const auto more = socket.ReceiveSome();
      ASSERT_TRUE(more && !more->empty()) << seen;
      seen += *more;
    }
  }

  void DeleteBucket() const { Administrate("STREAM.DELETE.KV_holdfast-executors"); }
  // Keeps the nodes from making their bucket: a stream has its name, but no records.
  void ObstructBucket() const {
    Administrate("STREAM.CREATE.KV_holdfast-executors",
                 R"({"name":"KV_holdfast-executors","subjects":["elsewhere"],"storage":"memory"})");
  }
};

TEST_F(NatsRestartTest, PipesEndAndEverythingElseComesBack) {
  NatsSettings settings = Settings();
  settings.record_time_to_live = 600s;  // records do not come back by a refresh
  TestNode a(loop, settings), b(loop, settings);
  const auto client = Join(a, b);
  b.Wait("build-2");
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() == 2; }));
  const std::string key = a.bus->ticket_key();
  server.Kill();
  EXPECT_TRUE(RunUntil([&] { return client->ended && b.joined[0]->ended; }));
  EXPECT_FALSE(a.bus->connected() || b.bus->connected());
  const auto refused = a.Join("build-1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kDisconnected);
  EXPECT_FALSE(Await(loop, a.bus->Others()));

  server.Start();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected() && b.bus->connected(); }));
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() == 2; }));
  EXPECT_EQ(a.bus->ticket_key(), key);
  EXPECT_EQ(b.bus->ticket_key(), key);
  std::optional<Result<std::shared_ptr<Pipe>>> joined;
  EXPECT_TRUE(RunUntil([&] { return (joined = a.Join("build-2"))->has_value(); }));
  PipeUser again(**joined);
  again.pipe->Send("hello");
  EXPECT_TRUE(RunUntil([&] { return b.joined[1]->received == "hello"; }));
}

TEST_F(NatsRestartTest, ANodeThatComesAfterAnOutageGetsTheKeyOfTheOthers) {
  TestNode a(loop, Settings());
  const std::string key = a.bus->ticket_key();
  server.Kill();
  EXPECT_TRUE(RunUntil([&] { return !a.bus->connected(); }));
  server.Start();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected(); }));
  const TestNode b(loop, Settings());
  EXPECT_EQ(b.bus->ticket_key(), key);
  EXPECT_EQ(a.bus->ticket_key(), key);
}

TEST_F(NatsRestartTest, ANodeIsNotConnectedWhileItsTicketKeyIsNotSettled) {
  TestNode a(loop, Settings());
  server.Kill();
  EXPECT_TRUE(RunUntil([&] { return !a.bus->connected(); }));
  server.Start();
  ObstructBucket();
  EXPECT_TRUE(RunUntil([&] { return a.Join("build-1").error().kind == ErrorKind::kNotFound; }));  // NATS is there
  EXPECT_FALSE(a.bus->connected());
  DeleteBucket();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected(); }));
}

TEST_F(NatsRestartTest, ANodeIsNotConnectedWhileTheBucketCannotBeUsed) {
  TestNode a(loop, Settings());
  EXPECT_TRUE(a.bus->connected());
  DeleteBucket();
  ObstructBucket();
  EXPECT_FALSE(Await(loop, a.bus->Others()));
  EXPECT_FALSE(a.bus->connected());
  DeleteBucket();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected(); }));
  DeleteBucket();
  ObstructBucket();
  a.bus->Publish({.id = "build-1", .name = "one", .since_ms = 1, .waiting = 0, .sessions = 0});
  EXPECT_TRUE(RunUntil([&] { return !a.bus->connected(); }));
  DeleteBucket();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected(); }));
}

TEST_F(NatsRestartTest, ABucketThatIsDeletedComesBackWithItsRecords) {
  NatsSettings settings = Settings();
  settings.record_time_to_live = 1s;
  TestNode a(loop, settings), b(loop, settings);
  a.bus->Publish({.id = "build-1", .name = "one", .since_ms = 1, .waiting = 0, .sessions = 0});
  EXPECT_TRUE(RunUntil([&] { return b.Others().size() == 1; }));
  const std::string key = a.bus->ticket_key();

  DeleteBucket();
  EXPECT_TRUE(RunUntil([&] { return b.Others().empty(); }));
  EXPECT_TRUE(RunUntil([&] { return b.Others().size() == 1; }));
  EXPECT_EQ(a.bus->ticket_key(), key);
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected(); }));
}

TEST_F(NatsRestartTest, AServerThatStandsStillEndsThePipesByTheirSilence) {
  NatsSettings settings = Settings();
  settings.pipes = {.alive_interval = 100ms, .silence_limit = 400ms};
  TestNode a(loop, settings), b(loop, settings);
  const auto client = Join(a, b);
  server.Pause();
  EXPECT_TRUE(RunUntil([&] { return client->ended && b.joined[0]->ended; }));
  EXPECT_TRUE(a.bus->connected() && b.bus->connected());  // this takes longer to be found out
  server.GoOn();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected() && a.Others().size() == 1; }));
}

// The server gets the requests and the news that nothing waits any more at the same moment, and delivers some of the
// requests all the same.
TEST_F(NatsRestartTest, ARequestThatComesTooLateIsRefused) {
  TestNode a(loop, Settings()), b(loop, Settings());
  std::vector<std::optional<Result<std::shared_ptr<Pipe>>>> answers(20);
  for (size_t i = 0; i < answers.size(); ++i) b.Wait("build-" + std::to_string(i));
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() == answers.size(); }));
  server.Pause();
  const auto let_workers_send = [&] { support::RunUntil(loop, [] { return false; }, 100ms); };
  loop::Scope scope;
  for (size_t i = 0; i < answers.size(); ++i) {
    scope.Start(StoreResult(a.bus->Join("build-" + std::to_string(i)), answers[i]));
  }
  let_workers_send();
  for (size_t i = 0; i < answers.size(); ++i) {
    b.executors_waiting.clear();
    b.PublishRecord("build-" + std::to_string(i));
  }
  let_workers_send();
  server.GoOn();
  for (auto& answer : answers) {
    ASSERT_TRUE(RunUntil([&] { return answer.has_value(); }));
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error().kind, ErrorKind::kNotFound) << answer->error().message;
  }
}

// A server that takes nothing must not hold up the loop, whatever is sent to it.
TEST_F(NatsRestartTest, TheLoopGoesOnWhileAServerStandsStill) {
  TestNode a(loop, Settings()), b(loop, Settings());
  std::vector<std::unique_ptr<PipeUser>> clients;
  for (int i = 0; i < 16; ++i) clients.push_back(Join(a, b, "build-" + std::to_string(i)));
  server.Pause();
  const std::string much(1u << 20, 'x');
  auto longest = 0ms;
  const auto end = std::chrono::steady_clock::now() + 1s;
  while (std::chrono::steady_clock::now() < end) {
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& client : clients) {
      if (!client->pipe->congested()) client->pipe->Send(much);
    }
    a.bus->Publish({.id = "build-1", .name = "", .since_ms = 1, .waiting = 1, .sessions = 0});
    a.bus->Withdraw("build-1");
    support::RunReady(loop);
    longest = std::max(longest,
                       std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin));
  }
  EXPECT_LT(longest, 500ms);
  server.GoOn();
  clients.clear();
}

}  // namespace
}  // namespace holdfast::rendezvous
