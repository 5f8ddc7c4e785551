// Nodes of a rendezvous that share a real NATS server, all on the loop of the test.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/task.h"
#include "rendezvous/bus/bus.h"
#include "rendezvous/nats/nats_bus.h"
#include "rendezvous/relay/pipe.h"
#include "support/loop_runner.h"
#include "support/nats_server.h"
#include "support/required_program.h"

namespace holdfast::rendezvous {

// The user of a pipe: it keeps what comes.
class PipeUser final : public Pipe::Receiver {
 public:
  PipeUser() = default;
  explicit PipeUser(std::shared_ptr<Pipe> given) { Use(std::move(given)); }
  ~PipeUser() {
    if (pipe) pipe->Close();
  }
  PipeUser(const PipeUser&) = delete;
  PipeUser& operator=(const PipeUser&) = delete;

  void Use(std::shared_ptr<Pipe> given) {
    pipe = std::move(given);
    pipe->Start(*this);
  }

  void OnBytes(std::string_view bytes) override {
    EXPECT_FALSE(ended);
    received += bytes;
  }
  void OnDrained() override { ++drained; }
  void OnEnded() override { ended = true; }

  std::shared_ptr<Pipe> pipe;
  std::string received;
  int drained = 0;
  bool ended = false;
};

template <typename T>
loop::Task<> StoreResult(loop::Task<T> task, std::optional<T>& result) {
  result.emplace(co_await std::move(task));
}

// Runs a task to its end.
template <typename T>
T Await(loop::EventLoop& loop, loop::Task<T> task) {
  std::optional<T> result;
  loop::Scope scope;
  scope.Start(StoreResult(std::move(task), result));
  EXPECT_TRUE(support::RunUntil(loop, [&] { return result.has_value(); }));
  return std::move(result).value();
}

// A node with a bus. A client of another node is joined to it if an executor waits.
class TestNode final : public Node {
 public:
  TestNode(loop::EventLoop& loop, NatsSettings settings) : loop_(loop) {
    auto made = MakeNatsBus(loop, std::move(settings));
    EXPECT_TRUE(made) << made.error().message;
    bus = *std::move(made);
    const auto started = Await(loop, bus->Start(*this));
    EXPECT_TRUE(started) << started.error().message;
  }

  Joined JoinWaiting(const std::string& id, std::shared_ptr<Pipe> client) override {
    ++requests;
    if (executors_waiting[id] == 0) return Joined::kNoneWaits;
    if (--executors_waiting[id] == 0) PublishRecord(id);
    joined.push_back(std::make_unique<PipeUser>(std::move(client)));
    return Joined::kYes;
  }

  // Offers a connection of the executor.
  void Wait(const std::string& id) {
    ++executors_waiting[id];
    PublishRecord(id);
  }
  void PublishRecord(const std::string& id) {
    bus->Publish({.id = id, .name = "", .since_ms = 1'000, .waiting = executors_waiting[id], .sessions = 0});
  }

  Result<std::shared_ptr<Pipe>> Join(const std::string& id) { return Await(loop_, bus->Join(id)); }
  std::vector<ExecutorRecord> Others() { return Await(loop_, bus->Others()).value_or(std::vector<ExecutorRecord>()); }

  std::unique_ptr<Bus> bus;
  std::map<std::string, size_t> executors_waiting;
  std::vector<std::unique_ptr<PipeUser>> joined;
  int requests = 0;

 private:
  loop::EventLoop& loop_;
};

class BusFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() { (void)support::RequireProgram("nats-server"); }

  NatsSettings Settings() const { return {.url = server.url()}; }
  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop, done); }

  // Joins a client of `from` to an executor that waits at `to`.
  std::unique_ptr<PipeUser> Join(TestNode& from, TestNode& to, const std::string& id = "build-1") {
    to.Wait(id);
    std::shared_ptr<Pipe> pipe;
    EXPECT_TRUE(RunUntil([&] {
      auto joined = from.Join(id);
      if (joined) pipe = *joined;
      return pipe != nullptr;
    }));
    return pipe ? std::make_unique<PipeUser>(std::move(pipe)) : nullptr;
  }

  // Lets an executor wait at `to`, until requests of `from` get there: the server sees a subscription later than a
  // record, because different workers send them.
  void Wait(TestNode& from, TestNode& to, const std::string& id = "build-1") {
    to.Wait(id);
    Join(from, to, id);
    to.joined.pop_back();
    to.requests = 0;
  }

  support::NatsServer server;
  loop::EventLoop loop;
};

}  // namespace holdfast::rendezvous
