// Another participant of NATS that writes into the bucket what no node would.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/nats/bus_fixture.h"
#include "rendezvous/nats/executor_entry.h"
#include "support/test_socket.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;

// A client of NATS that speaks its protocol by hand.
class Intruder {
 public:
  explicit Intruder(const support::NatsServer& server)
      : socket_(support::TestSocket::Connect("ws://" + server.address())) {
    socket_.Send("CONNECT {\"verbose\":false}\r\n");
  }

  // Returns when the server has seen the message.
  void Publish(const std::string& subject, std::string_view bytes) {
    socket_.Send("PUB " + subject + " " + std::to_string(bytes.size()) + "\r\n" + std::string(bytes) + "\r\nPING\r\n");
    std::string seen;
    while (!seen.contains("PONG\r\n")) {
      const auto more = socket_.ReceiveSome();
      if (!more || more->empty()) return;
      seen += *more;
    }
  }

 private:
  support::TestSocket socket_;
};

class NatsHostileTest : public BusFixture {};

TEST_F(NatsHostileTest, EntriesThatAreNotRecordsAreLeftOut) {
  TestNode a(loop, Settings()), b(loop, Settings());
  b.bus->Publish({.id = "build-1", .name = "one", .since_ms = 1, .waiting = 1, .sessions = 0});
  EXPECT_TRUE(RunUntil([&] { return a.Others().size() == 1; }));
  Intruder intruder(server);
  const std::string bucket = "$KV.holdfast-executors.";
  intruder.Publish(bucket + "junk", "junk");
  intruder.Publish(bucket + EntryKey("node", "build-2"), "{}");
  intruder.Publish(bucket + EntryKey("node", "build-2"),
                   EncodeEntry({.id = "build-3", .name = "", .since_ms = 1, .waiting = 1, .sessions = 0}, "http://h"));
  intruder.Publish(bucket + EntryKey("node", "last"),
                   EncodeEntry({.id = "last", .name = "", .since_ms = 1, .waiting = 1, .sessions = 0}, "http://h"));
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
