// The records and the ticket key that nodes share by a bus over NATS.
#include "rendezvous/nats/nats_bus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "rendezvous/nats/bus_fixture.h"
#include "support/test_certificate.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class NatsBusTest : public BusFixture {};

ExecutorRecord Record(const std::string& id, size_t sessions = 0) {
  return {.id = id, .name = "a \"name\"", .since_ms = 1'700'000'000'000, .waiting = 1, .sessions = sessions};
}

TEST_F(NatsBusTest, NodesFindTheRecordsOfEachOther) {
  TestNode a(loop, Settings()), b(loop, Settings());
  a.bus->Publish(Record("build-1"));
  b.bus->Publish(Record("build-2"));
  EXPECT_TRUE(RunUntil([&] { return b.Others() == std::vector{Record("build-1")}; }));
  EXPECT_TRUE(RunUntil([&] { return a.Others() == std::vector{Record("build-2")}; }));
}

TEST_F(NatsBusTest, ANodeIsFoundByItsExecutorWithTheUrlThatItAdvertises) {
  TestNode a(loop, Settings("https://a:1")), b(loop, Settings("https://b:1")), c(loop, Settings("https://c:1"));
  a.bus->Publish(Record("build-1"));
  b.bus->Publish(Record("build-1"));
  a.bus->Publish(Record("build-2"));
  EXPECT_EQ(a.bus->place().url, "https://a:1");
  EXPECT_TRUE(RunUntil([&] { return c.Find("build-1").size() == 2; }));
  EXPECT_THAT(c.Find("build-1"), UnorderedElementsAre(a.bus->place(), b.bus->place()));
  EXPECT_TRUE(RunUntil([&] { return !c.Find("build-2").empty(); }));
  EXPECT_THAT(c.Find("build-2"), ElementsAre(a.bus->place()));
  EXPECT_THAT(a.Find("build-1"), ElementsAre(b.bus->place()));
  EXPECT_THAT(c.Find("build-3"), IsEmpty());
}

TEST_F(NatsBusTest, AnExecutorWhoseRecordChangesAllTheTimeIsFound) {
  TestNode a(loop, Settings()), b(loop, Settings());
  a.bus->Publish(Record("build-1"));
  EXPECT_TRUE(RunUntil([&] { return !b.Find("build-1").empty(); }));
  for (size_t i = 0; i < 300; ++i) {
    a.bus->Publish(Record("build-1", i));
    ASSERT_EQ(b.Find("build-1").size(), 1u) << i;
  }
}

TEST_F(NatsBusTest, TheAddressThatNatsSeesMayBecomeTheUrl) {
  NatsSettings settings = Settings();
  settings.node_url = [](const auto& seen) { return seen(); };
  const TestNode a(loop, settings);
  EXPECT_EQ(a.bus->place().url, "127.0.0.1");
}

TEST_F(NatsBusTest, StartFailsWithoutAUrl) {
  NatsSettings settings = Settings();
  settings.node_url = [](const auto&) -> Result<std::string> { return Fail(ErrorKind::kInvalidParams, "no URL"); };
  auto bus = MakeNatsBus(loop, settings);
  ASSERT_TRUE(bus);
  const auto started = Await(loop, (*bus)->Start());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "no URL");
}

TEST_F(NatsBusTest, ARecordFollowsItsExecutor) {
  TestNode a(loop, Settings()), b(loop, Settings());
  a.bus->Publish(Record("build-1"));
  a.bus->Publish(Record("build-1", 7));
  EXPECT_TRUE(RunUntil([&] { return b.Others() == std::vector{Record("build-1", 7)}; }));
  a.bus->Withdraw("build-1");
  EXPECT_TRUE(RunUntil([&] { return b.Others().empty(); }));
}

TEST_F(NatsBusTest, CallersThatAskAtOnceAllGetTheRecords) {
  TestNode a(loop, Settings()), b(loop, Settings());
  a.bus->Publish(Record("build-1"));
  EXPECT_TRUE(RunUntil([&] { return !b.Others().empty(); }));
  std::vector<std::optional<Result<std::vector<ExecutorRecord>>>> answers(20);
  loop::Scope scope;
  for (auto& answer : answers) scope.Start(StoreResult(b.bus->Others(), answer));
  for (auto& answer : answers) {
    EXPECT_TRUE(RunUntil([&] { return answer.has_value(); }));
    EXPECT_EQ(**answer, std::vector{Record("build-1")});
  }
}

TEST_F(NatsBusTest, ARecordThatIsWrittenDuringAListingIsListedOnce) {
  TestNode a(loop, Settings()), b(loop, Settings());
  a.bus->Publish(Record("build-1"));
  EXPECT_TRUE(RunUntil([&] { return b.Others().size() == 1; }));
  for (size_t i = 0; i < 500; ++i) {
    a.bus->Publish(Record("build-1", i));
    ASSERT_EQ(b.Others().size(), 1u) << i;
  }
}

TEST_F(NatsBusTest, RecordsOfANodeThatDiesVanish) {
  NatsSettings settings = Settings();
  settings.record_time_to_live = 600ms;
  TestNode b(loop, settings);
  b.bus->Publish(Record("stays"));
  auto a = std::make_unique<TestNode>(loop, settings);
  a->bus->Publish(Record("goes"));
  EXPECT_TRUE(RunUntil([&] { return b.Others().size() == 1; }));
  a.reset();
  EXPECT_TRUE(RunUntil([&] { return b.Others().empty(); }));
  TestNode c(loop, settings);
  EXPECT_TRUE(RunUntil([&] { return c.Others() == std::vector{Record("stays")}; }));
}

TEST_F(NatsBusTest, ARecordLivesLongerThanItsTimeToLive) {
  NatsSettings settings = Settings();
  settings.record_time_to_live = 2s;
  TestNode a(loop, settings), b(loop, settings);
  a.bus->Publish(Record("build-1"));
  EXPECT_TRUE(RunUntil([&] { return b.Others().size() == 1; }));
  const auto end = std::chrono::steady_clock::now() + 3s;
  EXPECT_TRUE(RunUntil([&] {
    EXPECT_THAT(b.Others(), ElementsAre(Record("build-1")));
    return std::chrono::steady_clock::now() >= end;
  }));
}

TEST_F(NatsBusTest, AllNodesHaveTheSameTicketKey) {
  TestNode a(loop, Settings()), b(loop, Settings());
  EXPECT_GE(a.bus->ticket_key().size(), 32u);
  EXPECT_EQ(a.bus->ticket_key(), b.bus->ticket_key());
  NatsSettings elsewhere = Settings();
  elsewhere.bucket = "another-bucket";
  TestNode c(loop, elsewhere);
  EXPECT_NE(c.bus->ticket_key(), a.bus->ticket_key());
}

TEST_F(NatsBusTest, ABucketWithOtherSettingsIsUsedAsItIs) {
  NatsSettings other = Settings();
  other.record_time_to_live = 60s;
  InitLog(LogLevel::kInfo, LogFormat::kText);  // another suite of the same process may have changed it
  testing::internal::CaptureStderr();
  TestNode a(loop, other);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("nats.bucket_differs")));
  testing::internal::CaptureStderr();
  TestNode b(loop, Settings());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("nats.bucket_differs"), HasSubstr("its time to live is 60000 ms instead of 30000 ms")));
  a.bus->Publish(Record("build-1"));
  EXPECT_TRUE(RunUntil([&] { return b.Others() == std::vector{Record("build-1")}; }));
  EXPECT_EQ(a.bus->ticket_key(), b.bus->ticket_key());
}

TEST_F(NatsBusTest, IsConnectedWhenItHasTheTicketKeyOfTheOthers) {
  const TestNode other(loop, Settings());
  auto bus = MakeNatsBus(loop, Settings());
  ASSERT_TRUE(bus);
  std::optional<Result<>> started;
  loop::Scope scope;
  scope.Start(StoreResult((*bus)->Start(), started));
  EXPECT_TRUE(RunUntil([&] {
    EXPECT_EQ((*bus)->ticket_key(), (*bus)->connected() ? other.bus->ticket_key() : "");
    return started.has_value();
  }));
  EXPECT_TRUE((*bus)->connected());
}

TEST_F(NatsBusTest, StartFailsWithoutAServer) {
  server.Kill();
  auto bus = MakeNatsBus(loop, Settings());
  ASSERT_TRUE(bus);
  const auto started = Await(loop, (*bus)->Start());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("connect to NATS: "));
  EXPECT_FALSE((*bus)->connected());
}

}  // namespace
}  // namespace holdfast::rendezvous
