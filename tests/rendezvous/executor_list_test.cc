#include "rendezvous/executor_list.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

TokenRights RightsFor(std::string pattern) {
  return {.role = TokenRights::Role::kClient,
          .name = "t",
          .token_sha256 = "",
          .ids = {IdPattern(std::move(pattern))},
          .max_connections = 1};
}

TEST(ExecutorListTest, HasTheExecutorsThatTheTokenMayUse) {
  const std::vector<ExecutorRecord> records = {
      {.id = "b", .name = "\"B\"", .since_ms = 1'700'000'000'999, .waiting = 1, .sessions = 2},
      {.id = "a", .name = "A", .since_ms = 0, .waiting = 0, .sessions = 1},
      {.id = "other", .name = "C", .since_ms = 0, .waiting = 1, .sessions = 0}};
  EXPECT_EQ(ExecutorList(records, RightsFor("b")),
            R"({"executors":[{"id":"b","name":"\"B\"","since":"2023-11-14T22:13:20Z","sessions":2}]})"
            "\n");
  EXPECT_EQ(ExecutorList(records, RightsFor("x")), "{\"executors\":[]}\n");
}

TEST(ExecutorListTest, AnExecutorOfSeveralNodesIsOneEntry) {
  const std::vector<ExecutorRecord> records = {
      {.id = "a", .name = "later", .since_ms = 2'000, .waiting = 1, .sessions = 2},
      {.id = "a", .name = "earlier", .since_ms = 1'000, .waiting = 1, .sessions = 3}};
  EXPECT_EQ(ExecutorList(records, RightsFor("*")),
            R"({"executors":[{"id":"a","name":"later","since":"1970-01-01T00:00:01Z","sessions":5}]})"
            "\n");
}

}  // namespace
}  // namespace holdfast::rendezvous
