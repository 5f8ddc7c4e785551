#include "rendezvous/executor_table.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/fake_bus.h"
#include "rendezvous/fake_pipe.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ExecutorTableTest : public testing::Test {
 protected:
  static WaitingConnection Connection(std::string id, std::string registration) {
    return {.pipe = std::make_shared<FakePipe>(),
            .ticket = {.executor_id = std::move(id),
                       .registration_id = std::move(registration),
                       .name = "name",
                       .token_sha256 = "token"},
            .slot = {}};
  }
  std::string TakenRegistration(const std::string& id) {
    const auto taken = table_.Take(id, now_);
    return taken ? taken->ticket.registration_id : "none";
  }

  FakeBus bus_;
  ExecutorTable table_{bus_};
  ExecutorTable::Clock::time_point now_ = ExecutorTable::Clock::now();
};

TEST_F(ExecutorTableTest, TakesEachConnectionOnce) {
  table_.Add(1, Connection("e", "r1"), now_);
  EXPECT_TRUE(table_.HasWaiting("e"));
  EXPECT_FALSE(table_.HasWaiting("f"));
  EXPECT_EQ(TakenRegistration("f"), "none");
  EXPECT_EQ(TakenRegistration("e"), "r1");
  EXPECT_EQ(TakenRegistration("e"), "none");
}

TEST_F(ExecutorTableTest, PrefersTheLatestRegistration) {
  table_.Add(1, Connection("e", "r2"), now_);
  table_.Add(2, Connection("e", "r3"), now_);
  table_.Add(3, Connection("e", "r1"), now_);
  EXPECT_EQ(TakenRegistration("e"), "r3");
  EXPECT_EQ(TakenRegistration("e"), "r2");
  EXPECT_EQ(TakenRegistration("e"), "r1");
}

TEST_F(ExecutorTableTest, AConnectionThatHasEndedIsNotTaken) {
  table_.Add(1, Connection("e", "r1"), now_);
  table_.Add(2, Connection("e", "r2"), now_);
  table_.Remove("e", 2, now_);
  EXPECT_EQ(TakenRegistration("e"), "r1");
  EXPECT_EQ(TakenRegistration("e"), "none");
}

TEST_F(ExecutorTableTest, RemembersAnExecutorForAWhile) {
  EXPECT_FALSE(table_.Remembers("e", now_));
  table_.Remember("e", now_);
  EXPECT_TRUE(table_.Remembers("e", now_ + 90s));
  EXPECT_FALSE(table_.Remembers("e", now_ + 91s));
  table_.Add(1, Connection("e", "r1"), now_);
  EXPECT_TRUE(table_.Remembers("e", now_ + 1h));
  table_.Remove("e", 1, now_ + 1h);
  EXPECT_TRUE(table_.Remembers("e", now_ + 1h + 90s));
  EXPECT_FALSE(table_.Remembers("e", now_ + 1h + 91s));
}

TEST_F(ExecutorTableTest, RemembersABoundedNumberOfExecutors) {
  for (size_t i = 0; i <= ExecutorTable::kMaxRemembered; ++i) table_.Remember(std::to_string(i), now_);
  EXPECT_TRUE(table_.Remembers(std::to_string(ExecutorTable::kMaxRemembered - 1), now_));
  EXPECT_FALSE(table_.Remembers(std::to_string(ExecutorTable::kMaxRemembered), now_));
  table_.Remember("later", now_ + 2min);
  EXPECT_TRUE(table_.Remembers("later", now_ + 2min));
}

TEST_F(ExecutorTableTest, TellsTheBusAboutEachChange) {
  table_.Add(1, Connection("e", "r1"), now_);
  (void)table_.Take("e", now_);
  table_.Add(2, Connection("e", "r1"), now_);
  table_.EndSession("e", now_);
  ASSERT_EQ(bus_.published.size(), 4u);
  const int64_t since = bus_.published[0].since_ms;
  const auto record = [&](size_t waiting, size_t sessions) {
    return ExecutorRecord{.id = "e", .name = "name", .since_ms = since, .waiting = waiting, .sessions = sessions};
  };
  EXPECT_THAT(bus_.published, ElementsAre(record(1, 0), record(0, 1), record(1, 1), record(1, 0)));
  EXPECT_THAT(table_.Records(), ElementsAre(record(1, 0)));
  EXPECT_THAT(bus_.withdrawn, ElementsAre());
  table_.Remove("e", 2, now_);
  EXPECT_THAT(bus_.withdrawn, ElementsAre("e"));
  EXPECT_THAT(table_.Records(), ElementsAre());
}

TEST_F(ExecutorTableTest, RemovesTheConnectionsOfAToken) {
  table_.Add(1, Connection("e", "r1"), now_);
  table_.Add(2, Connection("e", "r2"), now_);
  table_.Add(3, Connection("f", "r1"), now_);
  const auto removed = table_.RemoveIf([](const Ticket& ticket) { return ticket.registration_id == "r1"; }, now_);
  EXPECT_EQ(removed.size(), 2u);
  EXPECT_FALSE(table_.HasWaiting("f"));
  EXPECT_THAT(bus_.withdrawn, ElementsAre("f"));
  EXPECT_EQ(TakenRegistration("e"), "r2");
}

}  // namespace
}  // namespace holdfast::rendezvous
