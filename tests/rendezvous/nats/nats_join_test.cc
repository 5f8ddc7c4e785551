// Clients of one node, joined to executors of another over NATS.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/nats/bus_fixture.h"
#include "rendezvous/nats/nats_bus.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;

class NatsJoinTest : public BusFixture {};

TEST_F(NatsJoinTest, BytesGoBothWays) {
  TestNode a(loop, Settings()), b(loop, Settings());
  const auto client = Join(a, b);
  ASSERT_EQ(b.joined.size(), 1u);
  PipeUser& executor = *b.joined[0];
  client->pipe->Send("from the client");
  executor.pipe->Send(std::string_view("from \0 the executor", 19));
  EXPECT_TRUE(RunUntil([&] { return executor.received == "from the client"; }));
  EXPECT_TRUE(RunUntil([&] { return client->received == std::string_view("from \0 the executor", 19); }));
}

TEST_F(NatsJoinTest, AnExecutorThatNoOtherNodeHasIsNotFoundAtOnce) {
  TestNode a(loop, Settings()), b(loop, Settings());
  a.Wait("of this node itself");
  for (const char* id : {"of no node", "of this node itself"}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto joined = a.Join(id);
    ASSERT_FALSE(joined) << id;
    EXPECT_EQ(joined.error().kind, ErrorKind::kNotFound);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  }
  EXPECT_EQ(a.requests, 0);
}

TEST_F(NatsJoinTest, ANodeThatHasNoneAnyMoreRefuses) {
  TestNode a(loop, Settings()), b(loop, Settings());
  Wait(a, b);
  b.executors_waiting.clear();
  const auto joined = a.Join("build-1");
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().kind, ErrorKind::kNotFound);
  EXPECT_GT(b.requests, 1);
}

TEST_F(NatsJoinTest, AnExecutorThatDoesNotWaitIsNotAskedFor) {
  TestNode a(loop, Settings()), b(loop, Settings());
  const auto client = Join(a, b);
  const int before = b.requests;
  EXPECT_TRUE(RunUntil([&] { return !a.Others().empty() && a.Others()[0].waiting == 0; }));
  const auto joined = a.Join("build-1");
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(b.requests, before);
}

TEST_F(NatsJoinTest, OfManyClientsAtOnceOneIsJoinedAndTheOthersAreRefusedSoon) {
  TestNode a(loop, Settings()), b(loop, Settings());
  for (int round = 0; round < 5; ++round) {
    const std::string id = "build-" + std::to_string(round);
    Wait(a, b, id);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::optional<Result<std::shared_ptr<Pipe>>>> answers(30);
    loop::Scope scope;
    for (auto& answer : answers) scope.Start(StoreResult(a.bus->Join(id), answer));
    EXPECT_TRUE(
        RunUntil([&] { return std::ranges::all_of(answers, [](auto& answer) { return answer.has_value(); }); }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1900ms);
    EXPECT_EQ(std::ranges::count_if(answers, [](auto& answer) { return answer->has_value(); }), 1);
    for (auto& answer : answers) {
      if (!*answer) EXPECT_EQ(answer->error().kind, ErrorKind::kNotFound);
    }
  }
}

TEST_F(NatsJoinTest, TheEndOfEitherSideEndsTheOther) {
  TestNode a(loop, Settings()), b(loop, Settings());
  const auto first = Join(a, b), second = Join(a, b);
  first->pipe->Send("last words");
  first->pipe->Close();
  EXPECT_TRUE(RunUntil([&] { return b.joined[0]->ended; }));
  EXPECT_EQ(b.joined[0]->received, "last words");
  b.joined[1]->pipe->Send("last words of the executor");
  b.joined[1]->pipe->Close();
  EXPECT_TRUE(RunUntil([&] { return second->ended; }));
  EXPECT_EQ(second->received, "last words of the executor");
  EXPECT_FALSE(first->ended);  // it has closed the pipe itself
}

TEST_F(NatsJoinTest, AClosedPipeSendsWhatDidNotFitIntoTheWindow) {
  TestNode a(loop, Settings()), b(loop, Settings());
  const auto client = Join(a, b);
  b.joined[0]->pipe->SetReading(Reading::kOff);
  const std::string sent(3u << 20, 'x');
  client->pipe->Send(sent);
  EXPECT_TRUE(client->pipe->congested());
  client->pipe->Close();
  client->pipe.reset();
  b.joined[0]->pipe->SetReading(Reading::kOn);
  EXPECT_TRUE(RunUntil([&] { return b.joined[0]->ended; }));
  EXPECT_EQ(b.joined[0]->received.size(), sent.size());
}

TEST_F(NatsJoinTest, ASenderWaitsForAReaderThatDoesNotRead) {
  TestNode a(loop, Settings()), b(loop, Settings());
  const auto client = Join(a, b);
  PipeUser& executor = *b.joined[0];
  executor.pipe->SetReading(Reading::kOff);
  const std::string piece(10'000, 'x');
  size_t sent = 0;
  while (!client->pipe->congested()) client->pipe->Send(piece), sent += piece.size();
  EXPECT_LE(sent, (1u << 20) + piece.size());
  EXPECT_GE(sent, 900u << 10);
  a.Others();  // takes some turns of the loop
  EXPECT_TRUE(executor.received.empty());
  EXPECT_EQ(client->drained, 0);
  executor.pipe->SetReading(Reading::kOn);
  EXPECT_TRUE(RunUntil([&] { return executor.received.size() == sent; }));
  EXPECT_TRUE(RunUntil([&] { return client->drained == 1; }));
  EXPECT_FALSE(client->pipe->congested());
}

// Takes a stream of numbers and turns reading off after each piece, for one turn of the loop.
class SlowReader final : public Pipe::Receiver {
 public:
  explicit SlowReader(loop::EventLoop& loop, Pipe& pipe) : loop_(loop), pipe_(pipe) {}

  void OnBytes(std::string_view bytes) override {
    for (const char byte : bytes)
      in_order_ = in_order_ && static_cast<uint8_t>(byte) == static_cast<uint8_t>(count++ % 251);
    pipe_.SetReading(Reading::kOff);
    loop_.Post([this] { pipe_.SetReading(Reading::kOn); });
  }
  void OnDrained() override {}
  void OnEnded() override { ended = true; }
  bool in_order() const { return in_order_; }

  size_t count = 0;
  bool ended = false;

 private:
  loop::EventLoop& loop_;
  Pipe& pipe_;
  bool in_order_ = true;
};

constexpr size_t kPieceBytes = 100'000;

class Writer final : public Pipe::Receiver {
 public:
  Writer(Pipe& pipe, size_t total) : pipe_(pipe), left_(total) { pipe_.Start(*this); }

  void Write() {
    while (left_ > 0 && !pipe_.congested()) {
      std::string piece(std::min(left_, kPieceBytes), '\0');
      for (char& byte : piece) byte = static_cast<char>(count_++ % 251);
      left_ -= piece.size();
      pipe_.Send(piece);
    }
  }
  size_t count() const { return count_; }
  void OnBytes(std::string_view) override {}
  void OnDrained() override { Write(); }
  void OnEnded() override { ADD_FAILURE() << "the pipe has ended"; }

 private:
  Pipe& pipe_;
  size_t left_, count_ = 0;
};

TEST_F(NatsJoinTest, AHundredMegabytesArriveInOrderAtASlowReader) {
  constexpr size_t kTotal = 100u << 20;
  TestNode a(loop, Settings()), b(loop, Settings());
  const auto client = Join(a, b);
  SlowReader reader(loop, *b.joined[0]->pipe);
  b.joined[0]->pipe->Start(reader);
  Writer writer(*client->pipe, kTotal);
  writer.Write();
  size_t most_under_way = 0;
  const auto is_done = [&] {
    most_under_way = std::max(most_under_way, writer.count() - reader.count);
    return reader.count == kTotal || reader.ended;
  };
  EXPECT_TRUE(support::RunUntil(loop, is_done, 120s));
  EXPECT_LE(most_under_way, (1u << 20) + kPieceBytes);  // the window, and the piece that did not fit
  EXPECT_EQ(reader.count, kTotal);
  EXPECT_TRUE(reader.in_order());
  client->pipe->Close();
  b.joined.clear();
}

TEST_F(NatsJoinTest, APipeWithoutTrafficLivesOn) {
  NatsSettings settings = Settings();
  settings.pipes = {.alive_interval = 100ms, .silence_limit = 300ms};
  TestNode a(loop, settings), b(loop, settings);
  const auto client = Join(a, b);
  const auto end = std::chrono::steady_clock::now() + 1s;
  EXPECT_TRUE(RunUntil([&] { return std::chrono::steady_clock::now() >= end; }));
  EXPECT_FALSE(client->ended || b.joined[0]->ended);
}

TEST_F(NatsJoinTest, PipesEndWithTheirBus) {
  auto a = std::make_unique<TestNode>(loop, Settings());
  TestNode b(loop, Settings());
  const auto client = Join(*a, b);
  a->bus.reset();
  EXPECT_TRUE(RunUntil([&] { return client->ended; }));
  EXPECT_TRUE(RunUntil([&] { return b.joined[0]->ended; }));
  client->pipe->Send("to nobody");
}

TEST_F(NatsJoinTest, ABusIsDestroyedWhileItJoins) {
  auto a = std::make_unique<TestNode>(loop, Settings());
  std::optional<Result<std::shared_ptr<Pipe>>> answer;
  loop::Scope scope;
  scope.Start(StoreResult(a->bus->Join("build-1"), answer));
  a->bus.reset();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().kind, ErrorKind::kDisconnected);
}

TEST_F(NatsJoinTest, ABusIsDestroyedWhileMessagesArrive) {
  TestNode b(loop, Settings());
  for (int round = 0; round < 10; ++round) {
    auto a = std::make_unique<TestNode>(loop, Settings());
    const auto client = Join(*a, b, "build-" + std::to_string(round));
    PipeUser& executor = *b.joined.back();
    for (int i = 0; i < 200; ++i) executor.pipe->Send("x");
    EXPECT_TRUE(RunUntil([&] { return !client->received.empty(); }));
    if (round % 2 == 0) client->pipe.reset();
    a.reset();
    EXPECT_TRUE(RunUntil([&] { return executor.ended; }));
  }
}

}  // namespace
}  // namespace holdfast::rendezvous
