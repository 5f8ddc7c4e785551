#include "remote/registration.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::remote {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = RegistryFailure::Kind;

const Registrant kExecutor{.registry_url = "http://h/api", .id = "exec-1"};
const Registrant kDirect{.form = Form::kDirect, .registry_url = "http://h", .id = "env-1"};

RegistryFailure FailureOf(const Registrant& registrant, uint16_t status, std::string body) {
  const auto read = ReadAnswer(registrant, {status, std::move(body)}, "sesame");
  return read ? RegistryFailure{Kind::kRefused, "no failure"} : read.error();
}

TEST(RegistrationTest, ReadsTheThreeMembersOfAnExecutor) {
  const auto read =
      ReadAnswer(kExecutor, {200, R"({"id":"R","executor_id":"exec-1","url":"ws://h:1/?sig=s","more":[1]})"}, "sesame");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->registration_id, "R");
  EXPECT_EQ(read->id, "exec-1");
  EXPECT_EQ(read->url, "ws://h:1/?sig=s");
  EXPECT_EQ(read->connections, Connections::kOne);
}

TEST(RegistrationTest, ReadsThatTheRendezvousTakesManyConnections) {
  const auto read =
      ReadAnswer(kExecutor, {201, R"({"id":"R","executor_id":"e","url":"ws://h","connections":"many"})"}, "sesame");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->connections, Connections::kMany);
}

TEST(RegistrationTest, HidesATokenThatIsAPartOfItsReplacement) {
  const auto read = ReadAnswer(kExecutor, {500, "token, token and tok"}, "token");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr(": [token], [token] and tok"));
}

TEST(RegistrationTest, ShowsNoCharactersThatChangeTheTerminal) {
  EXPECT_THAT(FailureOf(kExecutor, 500,
                        "a\x1b[2Jb\xc2\x9b"
                        "2Jc\xe2\x80\xae"
                        "d")
                  .message,
              HasSubstr(R"(: a\x1b[2Jb\u009b2Jc\u202ed)"));
}

TEST(RegistrationTest, CannotDecodeAnAnswerWithoutAMember) {
  for (const char* body :
       {R"({"executor_id":"e","url":"ws://h"})", R"({"id":"R","url":"ws://h"})", R"({"id":"R","executor_id":"e"})",
        R"({"id":1,"executor_id":"e","url":"u"})", "", "nonsense"}) {
    EXPECT_EQ(FailureOf(kExecutor, 200, body).message, "executor registry request failed: error decoding response body")
        << body;
  }
}

TEST(RegistrationTest, ReadsTheFourMembersOfADirectAnswer) {
  const auto read = ReadAnswer(kDirect,
                               {200, R"({"environment_id":"env-1","transport":"direct_jsonrpc_v1",)"
                                     R"("registration_id":"R","url":"ws://h"})"},
                               "sesame");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->registration_id, "R");
  EXPECT_EQ(read->id, "env-1");
}

TEST(RegistrationTest, RefusesADirectAnswerAboutSomethingElse) {
  EXPECT_EQ(FailureOf(kDirect, 200,
                      R"({"environment_id":"x","transport":"direct_jsonrpc_v1","registration_id":"R","url":"u"})")
                .message,
            "environment registry request failed: the response is about another environment");
  EXPECT_EQ(
      FailureOf(kDirect, 200, R"({"environment_id":"env-1","transport":"t","registration_id":"R","url":"u"})").message,
      "environment registry request failed: the response names another transport");
}

TEST(RegistrationTest, DescribesRefusals) {
  const struct {
    uint16_t status;
    std::string body, message;
    Kind kind;
  } cases[] = {
      {401, R"({"error":{"code":"c","message":"bad token"}})",
       "executor registry authentication error: executor registry authentication failed (401 Unauthorized): bad token",
       Kind::kRefused},
      {403, "  no entry \n",
       "executor registry authentication error: executor registry authentication failed (403 Forbidden): no entry",
       Kind::kRefused},
      {403, " ",
       "executor registry authentication error: executor registry authentication failed (403 Forbidden): empty error "
       "body",
       Kind::kRefused},
      {500, R"({"error":{"code":"E7","message":"broken"}})",
       "executor registry request failed (500 Internal Server Error, E7): broken", Kind::kUnavailable},
      {404, R"({"error":{"message":"unknown"}})", "executor registry request failed (404 Not Found): unknown",
       Kind::kRefused},
      {404, R"({"oops":1})", R"(executor registry request failed (404 Not Found): {"oops":1})", Kind::kRefused},
      {503, "", "executor registry request failed (503 Service Unavailable): empty or malformed error body",
       Kind::kUnavailable},
      {599, "x", "executor registry request failed (599 <unknown status code>): x", Kind::kUnavailable},
      {302, "x", "executor registry request failed (302 Found): x", Kind::kRefused},
  };
  for (const auto& each : cases) {
    const RegistryFailure failure = FailureOf(kExecutor, each.status, each.body);
    EXPECT_EQ(failure.message, each.message);
    EXPECT_EQ(failure.kind, each.kind) << each.message;
  }
}

TEST(RegistrationTest, CutsALongBodyAt4096Characters) {
  std::string body, expected;
  for (int i = 0; i < 5000; ++i) body += "\xc3\xa9";
  for (int i = 0; i < 4096; ++i) expected += "\xc3\xa9";
  EXPECT_EQ(FailureOf(kExecutor, 500, body).message,
            "executor registry request failed (500 Internal Server Error): " + expected);
}

TEST(RegistrationTest, ShowsNoControlCharactersOfTheRegistry) {
  EXPECT_THAT(FailureOf(kExecutor, 500, "a\x1b[2Jb\xff").message, HasSubstr(R"(): a\x1b[2Jb\xff)"));
}

TEST(RegistrationTest, LeavesOutATokenThatTheRegistryRepeats) {
  for (const uint16_t status : {401, 500}) {
    for (const char* body : {"you sent sesame", R"({"error":{"code":"sesame","message":"Bearer sesame"}})"}) {
      EXPECT_THAT(FailureOf(kExecutor, status, body).message, Not(HasSubstr("sesame")));
    }
  }
}

TEST(RegistrationTest, NamesTheUrlThatCannotBeReached) {
  EXPECT_EQ(Unreachable(kExecutor).message,
            "executor registry request failed: error sending request for url "
            "(http://h/api/cloud/executor/exec-1/register)");
}

TEST(RegistrationTest, ARendezvousIsReachedByWebSocketOnly) {
  const auto message = [](std::string url) {
    const auto server = RendezvousServer({.registration_id = {}, .id = {}, .url = std::move(url)});
    return server ? "" : server.error().message;
  };
  EXPECT_EQ(message("ws://h:1/x?sig=s3cret"), "");
  EXPECT_EQ(message("wss://h"), "");
  EXPECT_EQ(message("unix:///run/docker.sock"), "the URL of the rendezvous is neither ws nor wss");
  EXPECT_THAT(message("http://h/?sig=s3cret"), Not(HasSubstr("s3cret")));
  EXPECT_THAT(message("ws://u:s3cret@h/"), Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace holdfast::remote
