// Nodes of a rendezvous that share a real NATS server, all on the loop of the test.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loop/event_loop.h"
#include "rendezvous/nats/nats_bus.h"
#include "rendezvous/pipe_user.h"
#include "support/loop_runner.h"
#include "support/nats_server.h"
#include "support/required_program.h"

namespace holdfast::rendezvous {

// A node of which only the bus is there.
class TestNode {
 public:
  TestNode(loop::EventLoop& loop, NatsSettings settings) : loop_(loop) {
    auto made = MakeNatsBus(loop, std::move(settings));
    EXPECT_TRUE(made) << made.error().message;
    bus = *std::move(made);
    const auto started = Await(loop, bus->Start());
    EXPECT_TRUE(started) << started.error().message;
  }

  std::vector<ExecutorRecord> Others() { return Await(loop_, bus->Others()).value_or(std::vector<ExecutorRecord>()); }
  // Returns the nodes that have the executor.
  std::vector<NodePlace> Find(const std::string& id) {
    std::vector<NodePlace> nodes;
    const auto found = Await(loop_, bus->Find(id));
    if (found) {
      for (const ExecutorElsewhere& it : *found) nodes.push_back(it.node);
    }
    return nodes;
  }

  std::unique_ptr<Bus> bus;

 private:
  loop::EventLoop& loop_;
};

class BusFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() { (void)support::RequireProgram("nats-server"); }

  NatsSettings Settings(const std::string& node_url = "http://127.0.0.1:1") const {
    return {.url = server.url(), .node_url = [node_url](const auto&) -> Result<std::string> { return node_url; }};
  }
  bool RunUntil(const std::function<bool()>& done) { return support::RunUntil(loop, done); }

  support::NatsServer server;
  loop::EventLoop loop;
};

}  // namespace holdfast::rendezvous
