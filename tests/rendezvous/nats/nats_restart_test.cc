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

TEST_F(NatsRestartTest, EverythingComesBack) {
  NatsSettings settings = Settings();
  settings.record_time_to_live = 600s;  // records do not come back by a refresh
  TestNode a(loop, settings), b(loop, settings);
  for (const char* id : {"build-1", "build-2"}) {
    b.bus->Publish({.id = id, .name = "", .since_ms = 1, .waiting = 1, .sessions = 0});
  }
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() == 2; }));
  const std::string key = a.bus->ticket_key();
  server.Kill();
  EXPECT_TRUE(RunUntil([&] { return !a.bus->connected() && !b.bus->connected(); }));
  EXPECT_FALSE(Await(loop, a.bus->Others()));
  EXPECT_FALSE(Await(loop, a.bus->Find("build-1")));
  EXPECT_EQ(a.bus->ticket_key(), key);  // links and tickets go on

  server.Start();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected() && b.bus->connected(); }));
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() == 2; }));
  EXPECT_EQ(a.bus->ticket_key(), key);
  EXPECT_EQ(b.bus->ticket_key(), key);
  EXPECT_EQ(a.Find("build-2"), std::vector{b.bus->place()});
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
  const auto end = std::chrono::steady_clock::now() + 1s;  // the bus connects again after a quarter of it
  EXPECT_TRUE(RunUntil([&] { return std::chrono::steady_clock::now() >= end; }));
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

TEST_F(NatsRestartTest, AServerThatStandsStillIsNoticed) {
  TestNode a(loop, Settings());
  server.Pause();
  EXPECT_TRUE(RunUntil([&] { return !a.bus->connected(); }));
  server.GoOn();
  EXPECT_TRUE(RunUntil([&] { return a.bus->connected(); }));
}

// A server that takes nothing must not hold up the loop, whatever is asked of it.
TEST_F(NatsRestartTest, TheLoopGoesOnWhileAServerStandsStill) {
  TestNode a(loop, Settings());
  server.Pause();
  std::vector<std::optional<Result<std::vector<ExecutorElsewhere>>>> answers(16);
  loop::Scope scope;
  for (auto& answer : answers) scope.Start(StoreResult(a.bus->Find("build-1"), answer));
  auto longest = 0ms;
  const auto end = std::chrono::steady_clock::now() + 1s;
  while (std::chrono::steady_clock::now() < end) {
    const auto begin = std::chrono::steady_clock::now();
    a.bus->Publish({.id = "build-1", .name = "", .since_ms = 1, .waiting = 1, .sessions = 0});
    a.bus->Withdraw("build-1");
    support::RunReady(loop);
    longest = std::max(longest,
                       std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin));
  }
  EXPECT_LT(longest, 500ms);
  server.GoOn();
}

}  // namespace
}  // namespace holdfast::rendezvous
