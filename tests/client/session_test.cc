#include "client/session.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/client_fixture.h"
#include "support/message.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;
using support::Message;
using testing::ElementsAre;
using testing::HasSubstr;

class SessionTest : public ClientTest {};

TEST_F(SessionTest, DoesTheHandshake) {
  const auto client = Connect({.client_name = "tester"});
  RunReady();
  ASSERT_EQ(server_.got().size(), 2U);
  EXPECT_EQ(server_.got()[0].Text("method"), "initialize");
  EXPECT_EQ(server_.got()[0].Text("params.clientName"), "tester");
  EXPECT_EQ(server_.got()[1].Text("method"), "initialized");
  EXPECT_EQ(client.session_id(), "S");
  ASSERT_TRUE(client.environment());
  EXPECT_EQ(client.environment()->shell.path, "/bin/sh");
}

TEST_F(SessionTest, ReportsARefusedHandshake) {
  server_.Refuse("initialize", -32600, "unknown session id X");
  const auto client =
      Run(ExecServerClient::ConnectBy(loop_, server_.MakeDialer(), {.resume_session_id = std::string("X")}));
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("unknown session id X"));
  EXPECT_EQ(server_.Got("initialize").at(0).Text("params.resumeSessionId"), "X");
}

TEST_F(SessionTest, ReportsAServerThatCannotBeReached) {
  server_.SetReachable(false);
  const auto client = Run(ExecServerClient::ConnectBy(loop_, server_.MakeDialer(), {}));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, "connection refused");
  EXPECT_EQ(server_.dials(), 1);
}

TEST_F(SessionTest, AsksAnOlderServerForItsEnvironment) {
  server_.Answer("initialize", R"({"sessionId":"S"})");
  server_.Answer("environment/info", R"({"shell":{"name":"zsh","path":"/bin/zsh"}})");
  const auto client = Connect();
  EXPECT_EQ(client.environment()->shell.name, "zsh");
  EXPECT_EQ(client.session().traits().PathText("/a b"), "file:///a%20b");
}

TEST_F(SessionTest, SendsPlainPathsToAServerWithoutAnEnvironment) {
  server_.Answer("initialize", R"({"sessionId":"S"})");
  server_.Refuse("environment/info", -32601, "no such method");
  const auto client = Connect();
  EXPECT_FALSE(client.environment());
  EXPECT_EQ(client.session().traits().PathText("/a b"), "/a b");
}

TEST_F(SessionTest, ResumesTheSessionAndRepeatsACallThatOnlyLooks) {
  auto client = Connect();
  const auto call = Begin(client.Call<wire::ProcessList>({}));
  server_.Cut();
  server_.Answer("process/list", R"({"processes":[],"truncated":false})");
  ASSERT_TRUE(RunUntil([&] { return call->has_value(); }));
  EXPECT_TRUE((*call)->has_value());
  EXPECT_EQ(server_.Got("process/list").size(), 2U);
  EXPECT_EQ(server_.Got("initialize").at(1).Text("params.resumeSessionId"), "S");
  EXPECT_EQ(server_.Got("initialized").size(), 2U);
}

TEST_F(SessionTest, TellsWhatBecomesOfTheConnection) {
  std::vector<Connectivity> told;
  auto client = Connect({.on_connectivity = [&](Connectivity connectivity) { told.push_back(connectivity); }});
  EXPECT_THAT(told, ElementsAre());
  server_.SetReachable(false);
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return server_.dials() > 1; }));
  EXPECT_THAT(told, ElementsAre(Connectivity::kLost));
  server_.SetReachable(true);
  ASSERT_TRUE(RunUntil([&] { return told.size() == 2; }));
  EXPECT_EQ(told.back(), Connectivity::kRegained);
}

TEST_F(SessionTest, DoesNotRepeatACallThatMayHaveHadAnEffect) {
  auto client = Connect();
  const auto call = Begin(client.files().Remove("/x"));
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return call->has_value(); }));
  EXPECT_EQ((*call)->error().kind, ErrorKind::kDisconnected);
  ASSERT_TRUE(RunUntil([&] { return server_.Got("initialize").size() == 2; }));
  EXPECT_EQ(server_.Got("fs/remove").size(), 1U);
}

TEST_F(SessionTest, ACallThatIsMadeWithoutAConnectionWaitsForOne) {
  auto client = Connect();
  server_.SetReachable(false);
  server_.Cut();
  const auto call = Begin(client.files().Remove("/x"));
  EXPECT_FALSE(call->has_value());
  server_.Answer("fs/remove", "{}");
  server_.SetReachable(true);
  ASSERT_TRUE(RunUntil([&] { return call->has_value(); }));
  EXPECT_TRUE((*call)->has_value());
}

loop::Task<Result<>> RemoveTwo(Files files) {
  (void)co_await files.Remove("/x");
  co_return co_await files.Remove("/y");
}

TEST_F(SessionTest, ACallThatIsMadeAtTheLossOfTheConnectionWaitsForTheNextOne) {
  auto client = Connect();
  const auto removed = Begin(RemoveTwo(client.files()));
  server_.Answer("fs/remove", "{}");
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return removed->has_value(); }));
  EXPECT_TRUE(removed->value()) << (*removed)->error().message;
}

TEST_F(SessionTest, ARequestThatTheServerCannotReadFailsAtOnce) {
  auto client = Connect();
  const auto call = Begin(client.Call<wire::ProcessList>({}));
  server_.Send(R"({"id":-1,"error":{"code":-32600,"message":"the message is too long"}})");
  ASSERT_TRUE(RunUntil([&] { return call->has_value(); }));
  ASSERT_FALSE(call->value());
  EXPECT_THAT((*call)->error().message, HasSubstr("the message is too long"));
  EXPECT_NE((*call)->error().kind, ErrorKind::kDisconnected);
  server_.Answer("process/list", R"({"processes":[],"truncated":false})");
  EXPECT_TRUE(Run(client.Call<wire::ProcessList>({})));
  EXPECT_EQ(server_.Got("process/list").size(), 2U);
}

TEST_F(SessionTest, AsksAgainWhileTheServerHoldsTheLostConnection) {
  auto client = Connect();
  int refusals = 2;
  server_.Handle("initialize", [&](const Message&) {
    return refusals-- > 0 ? R"("error":{"code":-32010,"message":"attached"})" : R"("result":{"sessionId":"S"})";
  });
  server_.Cut();
  server_.Answer("process/list", R"({"processes":[],"truncated":false})");
  EXPECT_TRUE(Run(client.Call<wire::ProcessList>({})));
  EXPECT_EQ(server_.Got("initialize").size(), 4U);
}

TEST_F(SessionTest, EndsWhenTheServerNoLongerKnowsTheSession) {
  auto client = Connect();
  const auto process = Start(client);
  server_.Refuse("initialize", -32600, "unknown session id S");
  server_.Cut();
  EXPECT_THAT(TakeAll(*process), ElementsAre("failed: the session is lost: unknown session id S"));
  const auto call = Run(client.Call<wire::ProcessList>({}));
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().kind, ErrorKind::kDisconnected);
}

TEST_F(SessionTest, GivesUpAfterTheTimeForRecovery) {
  auto client = Connect({.recover_for = 150ms});
  const auto process = Start(client);
  server_.SetReachable(false);
  server_.Cut();
  EXPECT_THAT(TakeAll(*process),
              ElementsAre("failed: the session is lost: no connection for 150 ms: connection refused"));
  EXPECT_EQ(server_.dials(), 3);
}

TEST_F(SessionTest, DoesNotRecoverWithoutTimeForIt) {
  auto client = Connect({.recover_for = 0ms});
  const auto process = Start(client);
  server_.Cut();
  EXPECT_EQ(TakeAll(*process).size(), 1U);
  EXPECT_EQ(server_.dials(), 1);
}

TEST_F(SessionTest, ACallHasATimeLimit) {
  auto client = Connect({.call_timeout = 20ms});
  const auto call = Run(client.Call<wire::ProcessList>({}));
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().kind, ErrorKind::kTimeout);
}

TEST_F(SessionTest, TheTimeLimitCountsTheTimeWithoutAConnection) {
  auto client = Connect();
  server_.SetReachable(false);
  server_.Cut();
  const auto call = Run(client.Call<wire::ProcessList>({}, {.timeout = 20ms}));
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().kind, ErrorKind::kTimeout);
}

TEST_F(SessionTest, ACancelledCallIgnoresItsAnswer) {
  auto client = Connect();
  const auto call = Begin(client.Call<wire::ProcessList>({}));
  RunReady();
  scope_.emplace();
  server_.Send(R"({"id":2,"result":{"processes":[],"truncated":false}})");
  EXPECT_FALSE(call->has_value());
  server_.Answer("process/list", R"({"processes":[],"truncated":false})");
  EXPECT_TRUE(Run(client.Call<wire::ProcessList>({})));
}

TEST_F(SessionTest, ClosingFailsEveryCall) {
  auto client = Connect();
  const auto process = Start(client);
  const auto call = Begin(client.Call<wire::ProcessList>({}));
  const auto waiting = Begin(process->Wait());
  scope_->Start(client.Close());
  ASSERT_TRUE(RunUntil([&] { return call->has_value() && waiting->has_value() && !server_.connected(); }));
  EXPECT_EQ((*call)->error().kind, ErrorKind::kDisconnected);
  EXPECT_EQ((*waiting)->error().message, "the client was closed");
  EXPECT_EQ(server_.dials(), 1);
}

TEST_F(SessionTest, DestroyingTheClientClosesTheConnection) {
  {
    auto client = Connect();
  }
  EXPECT_TRUE(RunUntil([&] { return !server_.connected(); }));
}

TEST_F(SessionTest, EndsAtOnceWhenTheDialerFindsThatItIsExhausted) {
  auto client = Connect();
  const auto call = Begin(client.Call<wire::ProcessList>({}));
  server_.Exhaust({ErrorKind::kPermissionDenied, "the token is not accepted"});
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return call->has_value(); }));
  ASSERT_FALSE((*call)->has_value());
  EXPECT_EQ((*call)->error().message, "the session is lost: the token is not accepted");
  EXPECT_EQ(server_.dials(), 2);
}

TEST_F(SessionTest, CallsAMethodByItsName) {
  auto client = Connect();
  server_.Answer("x/y", R"({"a":[1,2]})");
  EXPECT_EQ(Run(client.CallText("x/y", R"({"b":true})")), R"({"a":[1,2]})");
  EXPECT_TRUE(server_.Got("x/y").at(0).Flag("params.b"));
}

TEST_F(SessionTest, TellsOfOtherNotifications) {
  auto client = Connect();
  std::string method;
  client.session().set_notification_sink([&](const rpc::Notification& told) { method = told.method; });
  server_.Send(R"({"method":"fs/missingChanged","params":{"watchId":1}})");
  EXPECT_EQ(method, "fs/missingChanged");
}

TEST_F(SessionTest, ANotificationThatBreaksTheProtocolEndsTheConnection) {
  auto client = Connect();
  const auto process = Start(client);
  server_.Send(R"({"method":"process/exited","params":{"processId":"p"}})");
  server_.Answer("process/read",
                 R"({"chunks":[],"nextSeq":1,"exited":false,"exitCode":null,"closed":false,"failure":null})");
  EXPECT_TRUE(RunUntil([&] { return server_.Got("initialize").size() == 2; }));
}

TEST_F(SessionTest, RefusesRequestsOfTheServer) {
  auto client = Connect();
  server_.Send(R"({"id":7,"method":"network/policyRequest","params":{}})");
  ASSERT_TRUE(RunUntil([&] { return server_.got().size() == 3; }));
  EXPECT_EQ(server_.got().back().error_code(), -32601);
}

}  // namespace
}  // namespace holdfast::client
