#include "remote/executor.h"

#include <csignal>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec_server/config/config_settings.h"
#include "remote/executor_fixture.h"
#include "sys/io.h"

namespace holdfast::remote {
namespace {

using support::RpcClient;
using support::ServerProcess;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

class ExecutorTest : public ExecutorFixture {
 protected:
  struct Ended {
    int status;
    std::string out, err;
  };
  static Ended Finish(ServerProcess server) {
    const auto status = server.WaitForExit();
    if (!status) server.Kill();
    return {status.value_or(-1), server.RestOfStdout(), server.Stderr()};
  }
  static Ended Run(std::vector<std::string> flags, const std::vector<std::string>& env = Environment()) {
    return Finish(ServerProcess::Launch(Words(std::move(flags)), env));
  }
};

TEST_F(ExecutorTest, SendsTheRecordedRegistration) {
  registry_.SendTo(rendezvous_.url());
  const ServerProcess executor = Start({"--name", "my machine"});
  ASSERT_TRUE(registry_.AwaitArrivals(1));
  const support::HttpArrival arrival = registry_.arrivals()[0];
  EXPECT_EQ(arrival.method, "POST");
  EXPECT_EQ(arrival.target, "/cloud/executor/exec-1/register");
  EXPECT_THAT(arrival.headers, UnorderedElementsAre(Pair("authorization", "Bearer sesame-token"),
                                                    Pair("content-type", "application/json"), Pair("accept", "*/*"),
                                                    Pair("host", registry_.authority()),
                                                    Pair("content-length", std::to_string(arrival.body.size()))));
  EXPECT_THAT(arrival.body,
              MatchesRegex(R"(\{"idempotency_id":"codex-exec-server-[0-9a-f]{64}","executor_id":"exec-1",)"
                           R"("name":"my machine","labels":\{\},"metadata":\{\}\})"));
}

TEST_F(ExecutorTest, KeepsThePathOfTheRegistryAndEncodesTheId) {
  registry_.SendTo(rendezvous_.url());
  const auto executor =
      ServerProcess::Launch(Words({"--remote", registry_.url() + "/api/", "--executor-id", "a b"}), Environment());
  ASSERT_TRUE(registry_.AwaitArrivals(1));
  EXPECT_EQ(registry_.arrivals()[0].target, "/api/cloud/executor/a%20b/register");
}

TEST_F(ExecutorTest, OpensTheWebSocketWithoutHeadersOfItsOwn) {
  registry_.SendTo(rendezvous_.url());
  const ServerProcess executor = Start();
  const Visit visit = rendezvous_.Accept();
  ASSERT_TRUE(visit);
  const std::string key = visit.Header("Sec-WebSocket-Key");
  EXPECT_EQ(visit.head(),
            fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                        "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\nUser-Agent: holdfast\r\n\r\n",
                        rendezvous_.target(), rendezvous_.name(), key));
}

TEST_F(ExecutorTest, ServesTheClientOfTheRendezvous) {
  registry_.SendTo(rendezvous_.url());
  ServerProcess executor = Start();
  support::RpcClient client = JoinNext();
  client.Start(support::Shell("p", "echo served"));
  EXPECT_EQ(client.WaitForClosed("p"), "served\n");
  client.Disconnect();
  executor.Stop();
  EXPECT_EQ(executor.RestOfStdout(), "");
  EXPECT_THAT(executor.Stderr(),
              HasSubstr("codex exec-server remote executor reg-1 registered with executor_id exec-1\n"));
}

TEST_F(ExecutorTest, RefusesFlagsThatDoNotFitTogether) {
  for (const auto& flags : std::vector<std::vector<std::string>>{
           {"--remote", "http://127.0.0.1:1"},
           {"--remote", "http://127.0.0.1:1", "--executor-id", "e", "--listen", "ws://127.0.0.1:0"},
           {"--remote", "http://127.0.0.1:1", "--executor-id", "e", "--environment-id", "f"}}) {
    const Ended ended = Run(flags);
    EXPECT_EQ(ended.status, 2) << ended.err;
    EXPECT_THAT(ended.err, MatchesRegex("holdfast exec-server: --.*; see holdfast exec-server --help\n"));
    EXPECT_EQ(ended.out, "");
  }
}

TEST_F(ExecutorTest, RefusesEveryFlagAboutListening) {
  for (const exec_server::Setting& setting : exec_server::ListenSettings()) {
    const std::string flag = exec_server::FlagName(setting);
    const bool is_toggle = std::holds_alternative<exec_server::Toggle>(setting.kind);
    const bool is_number = std::holds_alternative<exec_server::Number>(setting.kind);
    const std::string value = is_toggle ? "true" : is_number ? "1" : flag == "--ws-auth" ? "none" : "x";
    const Ended ended = Run({"--remote", "http://127.0.0.1:1", "--executor-id", "e", flag + "=" + value});
    EXPECT_EQ(ended.status, 2) << flag << ended.err;
    EXPECT_EQ(ended.err, fmt::format("holdfast exec-server: --remote and {} exclude each other; see holdfast "
                                     "exec-server --help\n",
                                     flag));
  }
}

TEST_F(ExecutorTest, AnIdWithoutARegistryIsIgnored) {
  const auto server = ServerProcess::Start({"--executor-id", "exec-1"});
  EXPECT_THAT(server.url(), testing::StartsWith("ws://127.0.0.1:"));
}

TEST_F(ExecutorTest, ChecksTokenThenIdThenUrl) {
  const std::vector<std::string> nothing = {"--remote", "", "--executor-id", " "};
  const Ended without_token = Run(nothing, {});
  EXPECT_EQ(without_token.status, 1);
  EXPECT_EQ(without_token.err,
            "Error: executor registry authentication error: executor registry bearer token environment variable "
            "`CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN` is not set\n");
  const Ended with_blank = Run(nothing, {"CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN= "});
  EXPECT_EQ(with_blank.status, 1);
  EXPECT_THAT(with_blank.err, EndsWith("`CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN` is empty\n"));
  const Ended without_id = Run(nothing);
  EXPECT_EQ(without_id.status, 1);
  EXPECT_EQ(without_id.err,
            "Error: executor registry configuration error: executor id is required for remote exec-server "
            "registration\n");
  const Ended without_url = Run({"--remote", " / ", "--executor-id", "e"});
  EXPECT_EQ(without_url.status, 1);
  EXPECT_EQ(without_url.err, "Error: executor registry configuration error: executor registry base URL is required\n");
}

TEST_F(ExecutorTest, EndsWithTheWordsOfARegistryThatRefuses) {
  registry_.Answer(401, R"({"error":{"code":"x","message":"no such token: sesame-token"}})");
  const Ended ended = Finish(Start());
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, EndsWith("Error: executor registry authentication error: executor registry authentication "
                                  "failed (401 Unauthorized): no such token: [token]\n"));
}

TEST_F(ExecutorTest, EndsWhenTheRegistryFailsOrSendsNonsense) {
  registry_.Answer(500, "");
  EXPECT_THAT(Finish(Start()).err,
              EndsWith("Error: executor registry request failed (500 Internal Server Error): empty or malformed error "
                       "body\n"));
  registry_.Answer(200, R"({"id":"r","url":"ws://h"})");
  EXPECT_THAT(Finish(Start()).err, EndsWith("Error: executor registry request failed: error decoding response body\n"));
  EXPECT_EQ(registry_.arrivals().size(), 2u);
}

TEST_F(ExecutorTest, EndsWhenTheRegistryCannotBeReached) {
  const Ended ended = Run({"--remote", "http://127.0.0.1:1/", "--executor-id", "e"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, EndsWith("Error: executor registry request failed: error sending request for url "
                                  "(http://127.0.0.1:1/cloud/executor/e/register)\n"));
}

TEST_F(ExecutorTest, FollowsNoRedirectWithItsToken) {
  ScriptedRegistry elsewhere;
  registry_.Answer(307, "", fmt::format("Location: {}/cloud/executor/exec-1/register\r\n", elsewhere.url()));
  const Ended ended = Finish(Start());
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("(307 Temporary Redirect)"));
  EXPECT_TRUE(elsewhere.arrivals().empty());
}

TEST_F(ExecutorTest, ADirectExecutorSendsOnlyItsTransport) {
  registry_.SendDirectlyTo(rendezvous_.url());
  const ServerProcess executor = StartDirect();
  ASSERT_TRUE(registry_.AwaitArrivals(1));
  const support::HttpArrival arrival = registry_.arrivals()[0];
  EXPECT_EQ(arrival.target, "/cloud/environment/env-1/direct/register");
  EXPECT_EQ(arrival.body, R"({"transport":"direct_jsonrpc_v1"})");
  EXPECT_EQ(arrival.Header("authorization"), "Bearer sesame-token");
}

TEST_F(ExecutorTest, ADirectExecutorEndsWhenItsRendezvousForbidsTheConnection) {
  registry_.SendDirectlyTo(rendezvous_.url());
  ServerProcess executor = StartDirect();
  rendezvous_.Accept().Refuse("403 Forbidden");
  const Ended ended = Finish(std::move(executor));
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, EndsWith(fmt::format("Error: the server at {} refused the WebSocket: 403 Forbidden\n",
                                              rendezvous_.name())));
}

TEST_F(ExecutorTest, ADirectExecutorTriesAgainAfterA500WithoutRegisteringAgain) {
  registry_.SendDirectlyTo(rendezvous_.url());
  const ServerProcess executor = StartDirect();
  rendezvous_.Accept().Refuse("500 Internal Server Error");
  support::RpcClient client = JoinNext();
  client.Disconnect();
  const Visit third = rendezvous_.Accept();
  EXPECT_TRUE(third);
  EXPECT_THAT(third.head(), HasSubstr(rendezvous_.target()));
  EXPECT_EQ(registry_.arrivals().size(), 1u);
}

TEST_F(ExecutorTest, ADirectExecutorRegistersAgainWhenItsUrlIsNotRecognized) {
  registry_.SendDirectlyTo(rendezvous_.url());
  const ServerProcess executor = StartDirect();
  RpcClient client = JoinNext();
  const std::string session = client.session_id();
  client.Disconnect();
  registry_.SendDirectlyTo(rendezvous_.url() + "&key=another");
  rendezvous_.Accept().Refuse("401 Unauthorized");
  Visit visit = rendezvous_.Accept();
  ASSERT_TRUE(visit);
  EXPECT_THAT(visit.head(), HasSubstr(rendezvous_.target() + "&key=another"));
  EXPECT_EQ(registry_.arrivals().size(), 2u);
  RpcClient resumed = visit.Join();
  resumed.Handshake(fmt::format(R"("resumeSessionId":"{}")", session));
  EXPECT_EQ(resumed.session_id(), session);
}

TEST_F(ExecutorTest, StopsWhileItWaitsForAClientOrForItsRendezvous) {
  registry_.SendTo(rendezvous_.url());
  ServerProcess waiting = Start();
  const Visit visit = rendezvous_.Accept();
  waiting.Stop();
  ServerProcess pausing = Start();
  rendezvous_.Accept().Refuse("503 Service Unavailable");
  ASSERT_TRUE(support::Eventually([&] { return pausing.Stderr().contains("rendezvous.pause"); }));
  pausing.Signal(SIGINT);
  EXPECT_EQ(pausing.WaitForExit(), 0);
}

TEST_F(ExecutorTest, CanStopWhenItsInputEnds) {
  registry_.SendTo(rendezvous_.url());
  ServerProcess executor = Start({"--exit-on-stdin-close"});
  support::RpcClient client = JoinNext();
  client.Start(support::Shell("p", "sleep 1000"));
  executor.CloseInput();
  EXPECT_EQ(executor.WaitForExit(), 0);
}

TEST_F(ExecutorTest, ReadsItsTokenFromItsInputAndStillSeesTheEndOfIt) {
  registry_.SendTo(rendezvous_.url());
  ServerProcess executor = Start({"--registration-bearer-stdin", "--exit-on-stdin-close"});
  EXPECT_EQ(sys::Write(executor.input(), "from-stdin\n", 11), 11);
  support::RpcClient client = JoinNext();
  EXPECT_EQ(registry_.arrivals()[0].Header("authorization"), "Bearer from-stdin");
  executor.CloseInput();
  EXPECT_EQ(executor.WaitForExit(), 0);
}

TEST_F(ExecutorTest, DoesNotFallBackToTheEnvironmentWithoutATokenInItsInput) {
  ServerProcess executor = Start({"--registration-bearer-stdin"});
  executor.CloseInput();
  EXPECT_EQ(executor.WaitForExit(), 1);
  EXPECT_EQ(executor.Stderr(), "Error: standard input ends before the line of the bearer token\n");
  EXPECT_TRUE(registry_.arrivals().empty());
}

}  // namespace
}  // namespace holdfast::remote
