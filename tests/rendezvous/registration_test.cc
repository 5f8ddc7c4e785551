#include "rendezvous/registration.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

using enum RegistrationForm;

TEST(RegistrationTest, HasTheNameOfTheBody) {
  EXPECT_EQ(ReadRegistration(kExecutor, "exec-1",
                             R"({"idempotency_id":"codex-exec-server-00","executor_id":"exec-1","name":"farm",)"
                             R"("labels":{},"metadata":{}})"),
            "farm");
  EXPECT_EQ(ReadRegistration(kExecutor, "exec-1", "{}"), "exec-1");
  EXPECT_EQ(ReadRegistration(kEnvironment, "env-1", R"({"transport":"direct_jsonrpc_v1"})"), "env-1");
}

TEST(RegistrationTest, RefusesABodyThatIsNotOne) {
  for (const char* body :
       {"", "[]", "null", "{", R"({"name":7})", R"({"executor_id":"exec-2"})", R"({"name":"a\u0007"})",
        R"({"name":"a\u009b2J"})", R"({"name":"a\u202eb"})", R"({"name":"a","name":"b"})"}) {
    EXPECT_FALSE(ReadRegistration(kExecutor, "exec-1", body)) << body;
  }
  EXPECT_TRUE(ReadRegistration(kExecutor, "e", "{\"name\":\"" + std::string(256, 'n') + "\"}"));
  EXPECT_FALSE(ReadRegistration(kExecutor, "e", "{\"name\":\"" + std::string(257, 'n') + "\"}"));
  EXPECT_FALSE(ReadRegistration(kEnvironment, "env-1", "{}"));
  EXPECT_FALSE(ReadRegistration(kEnvironment, "env-1", R"({"transport":"noise"})"));
}

TEST(RegistrationTest, IsAnsweredInItsForm) {
  const Ticket ticket{.executor_id = "e", .registration_id = "r", .name = "n", .token_sha256 = "t"};
  EXPECT_EQ(RegistrationAnswer(kExecutor, ticket, "ws://h/x"),
            R"({"id":"r","executor_id":"e","url":"ws://h/x","connections":"many"})");
  EXPECT_EQ(RegistrationAnswer(kEnvironment, ticket, "ws://h/x"),
            R"({"environment_id":"e","transport":"direct_jsonrpc_v1","registration_id":"r","url":"ws://h/x",)"
            R"("connections":"many"})");
}

TEST(RegistrationTest, ALaterIdIsGreater) {
  const std::string first = NextRegistrationId();
  std::string later = NextRegistrationId();
  while (later.substr(0, 16) == first.substr(0, 16)) later = NextRegistrationId();
  EXPECT_GT(later, first);
}

}  // namespace
}  // namespace holdfast::rendezvous
