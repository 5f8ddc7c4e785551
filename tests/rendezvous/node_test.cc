// The answers of a node to requests over real sockets, and its start and end.
#include <sys/stat.h>

#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/metrics_text.h"
#include "rendezvous/node_fixture.h"
#include "support/test_certificate.h"

namespace holdfast::rendezvous {
namespace {

using support::Message;
using support::Received;
using support::RpcClient;
using support::WebSocketClient;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class NodeTest : public NodeFixture {};

// A connection of an executor that the test makes itself.
WebSocketClient ConnectAs(const std::string& url) { return WebSocketClient::Connect(url); }

TEST_F(NodeTest, PrintsItsUrl) {
  Process& node = StartNode();
  EXPECT_THAT(node.url(), MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+"));
  EXPECT_EQ(Get("/readyz").status, 200);
  EXPECT_EQ(Get("/healthz").status, 200);
  EXPECT_EQ(Get("/other").status, 404);
  node.Stop();
  EXPECT_EQ(node.RestOfStdout(), "");
}

TEST_F(NodeTest, EachWrongTokenIsRefused) {
  StartNode();
  struct Row {
    const char *method, *target, *token;
    int status;
    const char* code;
  };
  const Row rows[] = {
      {"POST", "/cloud/executor/build-7/register", "", 401, "no_token"},
      {"POST", "/cloud/executor/build-7/register", "wrong", 401, "bad_token"},
      {"POST", "/cloud/executor/build-7/register", kAlice, 401, "bad_token"},
      {"POST", "/cloud/executor/test-7/register", kFarm, 403, "id_not_allowed"},
      {"POST", "/cloud/environment/test-7/direct/register", kFarm, 403, "id_not_allowed"},
      {"GET", "/executors/build-7", "", 401, "no_token"},
      {"GET", "/executors/build-7", "wrong", 401, "bad_token"},
      {"GET", "/executors/build-7", kFarm, 401, "bad_token"},
      {"GET", "/executors/build-7", kBob, 403, "id_not_allowed"},
      {"GET", "/executors/build-7", kAlice, 404, "unknown_executor"},
      {"GET", "/executors/build-7?token=wrong", "", 401, "bad_token"},
      {"GET", "/executors/build%0A7", kAlice, 400, "bad_id"},
      {"GET", "/rendezvous/build-7", "", 401, "bad_ticket"},
      {"GET", "/rendezvous/build-7?ticket=e30.AAAA", kFarm, 401, "bad_ticket"},
  };
  for (const Row& row : rows) {
    const std::string target = row.target;
    const HttpReply reply =
        row.method == std::string_view("POST") ? Post(target, row.token) : Upgrade(target, row.token);
    EXPECT_EQ(reply.status, row.status) << row.target << " " << row.token;
    EXPECT_EQ(Message(reply.body).Text("error.code"), row.code) << row.target << " " << row.token;
  }
}

TEST_F(NodeTest, ATokenInANeighbouringHeaderDoesNotCount) {
  StartNode();
  EXPECT_EQ(Send(fmt::format("GET /executors HTTP/1.1\r\nHost: h\r\nAuthorization: Basic {}\r\n\r\n", kAlice)).status,
            401);
  EXPECT_EQ(Send(fmt::format("GET /executors HTTP/1.1\r\nHost: h\r\n{0}{0}\r\n", Bearer(kAlice))).status, 401);
  EXPECT_EQ(Get("/executors", kAlice).status, 200);
}

TEST_F(NodeTest, AValidTokenIsServedAfterManyFailuresOnLoopback) {
  StartNode();
  int last = 0;
  for (int i = 0; i < 25; ++i) last = Get("/executors", "wrong").status;
  EXPECT_EQ(last, 429);
  EXPECT_EQ(Get("/executors", kAlice).status, 200);
}

TEST_F(NodeTest, ATicketOpensSeveralConnectionsOfOneExecutor) {
  StartNode();
  const std::string url = Register("build-7");
  EXPECT_THAT(url, StartsWith("ws://" + address() + "/rendezvous/build-7?ticket="));
  WebSocketClient first = ConnectAs(url), second = ConnectAs(url);
  EXPECT_TRUE(first.SendPing("x"));
  EXPECT_EQ(first.Receive().kind, Received::Kind::kPong);
  EXPECT_THAT(Get("/metrics").body, HasSubstr("\nholdfast_rendezvous_waiting_connections 2\n"));
}

TEST_F(NodeTest, TheListHasTheExecutorsOfTheToken) {
  StartNode();
  EXPECT_EQ(Get("/executors", kAlice).body, "{\"executors\":[]}\n");
  const std::string url = Register("build-7");
  WebSocketClient executor = ConnectAs(url);
  const Message list(Get("/executors", kAlice).body);
  ASSERT_EQ(list.Size("executors"), 1u);
  EXPECT_EQ(list.Text("executors.0.id"), "build-7");
  EXPECT_EQ(list.Text("executors.0.name"), "build-7");
  EXPECT_THAT(list.Text("executors.0.since"), MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_EQ(list.Number("executors.0.sessions"), 0);
  EXPECT_EQ(Get("/executors", kBob).body, "{\"executors\":[]}\n");
  WebSocketClient client = WebSocketClient::Connect(ClientUrl("build-7"));
  EXPECT_EQ(Message(Get("/executors", kAlice).body).Number("executors.0.sessions"), 1);
}

TEST_F(NodeTest, FramesPassBetweenTheTwoSides) {
  StartNode();
  WebSocketClient executor = ConnectAs(Register("build-7"));
  WebSocketClient client = WebSocketClient::Connect(ClientUrl("build-7"));
  EXPECT_TRUE(client.SendText("question"));
  EXPECT_EQ(executor.ReceiveText(), "question");
  EXPECT_TRUE(executor.SendBinary("answer"));
  EXPECT_EQ(client.Receive().payload, "answer");
  EXPECT_TRUE(client.SendPing("end to end"));
  EXPECT_EQ(executor.Receive().kind, Received::Kind::kPing);
  EXPECT_TRUE(client.SendClose(4000));
  EXPECT_EQ(executor.ReceiveCloseCode(), 4000);
}

TEST_F(NodeTest, LimitsTheConnectionsOfAToken) {
  (void)WriteTokens(Entry("executor", kFarm, "ids = [\"*\"]\nmax_connections = 2") +
                    Entry("client", kAlice, "ids = [\"*\"]"));
  StartNode();
  const std::string url = Register("build-7"), target = url.substr(url.find("/rendezvous"));
  WebSocketClient first = ConnectAs(url), second = ConnectAs(url);
  EXPECT_EQ(Message(Upgrade(target, "").body).Text("error.code"), "token_is_full");
  first.socket().Close();
  EXPECT_TRUE(support::Eventually([&] { return Get("/metrics").body.contains("waiting_connections 1\n"); }));
  WebSocketClient third = ConnectAs(url);
  EXPECT_TRUE(third.SendPing("x"));
  EXPECT_EQ(third.Receive().kind, Received::Kind::kPong);
}

TEST_F(NodeTest, LimitsItsConnections) {
  StartNode({"--max-connections", "2"});
  const std::string url = Register("build-7"), target = url.substr(url.find("/rendezvous"));
  std::vector<support::TestSocket> open;
  std::string answer;
  while (open.size() < 5) {
    open.push_back(support::TestSocket::Connect("ws://" + address()));
    ASSERT_TRUE(open.back().Send(WebSocketClient::UpgradeRequest(target)));
    answer = open.back().ReceiveSome().value_or("");
    if (!answer.starts_with("HTTP/1.1 101")) break;
  }
  EXPECT_LE(open.size(), 3u);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
}

TEST_F(NodeTest, TheMetricsHaveTheFormOfPrometheus) {
  StartNode();
  WebSocketClient executor = ConnectAs(Register("build-7"));
  WebSocketClient client = WebSocketClient::Connect(ClientUrl("build-7"));
  EXPECT_TRUE(client.SendText("12345"));
  EXPECT_EQ(executor.ReceiveText(), "12345");
  const HttpReply reply = Get("/metrics");
  EXPECT_THAT(reply.head, HasSubstr("text/plain; version=0.0.4"));
  const MetricsText metrics(reply.body);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_pairs"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_relayed_bytes_total"), 7);  // a header of two bytes, without a mask
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_bus_connected"), 1);
  EXPECT_THAT(reply.body, Not(HasSubstr("build-7")));
  EXPECT_EQ(Send("GET /metrics HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n").status, 401);
}

TEST_F(NodeTest, ATokenThatIsAddedWorksAndOneThatIsRemovedEnds) {
  Process& node = StartNode();
  WebSocketClient executor = ConnectAs(Register("build-7"));
  WebSocketClient client = WebSocketClient::Connect(ClientUrl("build-7"));
  EXPECT_EQ(Get("/executors", "carol").status, 401);
  (void)WriteTokens(Entry("executor", kFarm, "ids = [\"build-*\"]") + Entry("client", "carol", "ids = [\"*\"]"));
  ASSERT_TRUE(support::Eventually([&] { return node.Stderr().contains("tokens.reloaded"); }));
  EXPECT_EQ(Get("/executors", "carol").status, 200);
  EXPECT_EQ(Get("/executors", kAlice).status, 401);
  EXPECT_EQ(client.Receive().kind, Received::Kind::kClose);
  EXPECT_EQ(executor.Receive().kind, Received::Kind::kClose);
  (void)WriteTokens("nonsense");
  ASSERT_TRUE(support::Eventually([&] { return node.Stderr().contains("tokens.reload_failed"); }));
  EXPECT_EQ(Get("/executors", "carol").status, 200);
}

TEST_F(NodeTest, ReadsItsTokensAtOnceOnSighup) {
  Process& node = StartNode();
  WebSocketClient executor = ConnectAs(Register("build-7"));
  node.Signal(SIGHUP);  // the file has not changed, so nothing else makes the node read it
  ASSERT_TRUE(support::Eventually([&] { return node.Stderr().contains("tokens.reloaded"); }));
  EXPECT_EQ(Get("/executors", kAlice).status, 200);
  EXPECT_TRUE(executor.SendPing("x"));
  EXPECT_EQ(executor.Receive().kind, Received::Kind::kPong);
}

TEST_F(NodeTest, WarnsOfATlsKeyThatEveryUserMayRead) {
  const support::TestCertificate certificate;
  const std::vector<std::string> flags = {"--tls-cert", certificate.certificate_file(), "--tls-key",
                                          certificate.key_file()};
  ASSERT_EQ(::chmod(certificate.key_file().c_str(), 0640), 0);
  EXPECT_THAT(StartNode(flags).Stderr(), Not(HasSubstr("tls.key_readable")));
  ASSERT_EQ(::chmod(certificate.key_file().c_str(), 0644), 0);
  EXPECT_THAT(StartNode(flags).Stderr(), HasSubstr("tls.key_readable"));
}

TEST_F(NodeTest, SaysGoodbyeWhenItStops) {
  Process& node = StartNode();
  const std::string url = Register("build-7");
  WebSocketClient executor = ConnectAs(url);
  WebSocketClient client = WebSocketClient::Connect(ClientUrl("build-7"));
  WebSocketClient waiting = ConnectAs(url);
  EXPECT_TRUE(client.SendText("hello"));
  EXPECT_EQ(executor.ReceiveText(), "hello");
  node.Signal(SIGTERM);
  EXPECT_EQ(executor.ReceiveCloseCode(), 1001);
  EXPECT_EQ(client.ReceiveCloseCode(), 1001);
  EXPECT_EQ(waiting.ReceiveCloseCode(), 1001);
  for (WebSocketClient* each : {&executor, &client, &waiting}) each->socket().Close();
  EXPECT_EQ(node.WaitForExit(), 0);
}

TEST_F(NodeTest, ASecondSignalEndsItAtOnce) {
  Process& node = StartNode();
  WebSocketClient executor = ConnectAs(Register("build-7"));
  node.Signal(SIGTERM);
  EXPECT_EQ(executor.ReceiveCloseCode(), 1001);  // without an answer, the node waits
  node.Signal(SIGINT);
  EXPECT_EQ(node.WaitForExit(), 128 + SIGINT);
}

TEST_F(NodeTest, ServesOverTls) {
  const support::TestCertificate certificate;
  StartNode({"--tls-cert", certificate.certificate_file(), "--tls-key", certificate.key_file()});
  EXPECT_THAT(url_, StartsWith("https://127.0.0.1:"));
  Process& executor = StartExecutor("build-7", {"--ca-file", certificate.certificate_file()});
  ASSERT_TRUE(support::Eventually([&] { return executor.Stderr().contains("rendezvous.connected"); }));
  const std::string token = dir_.Write("token", kAlice, 0600);
  const auto run = support::RunHoldfast({"run", "--server", url_ + "/executors/build-7", "--token-file", token,
                                         "--ca-file", certificate.certificate_file(), "echo", "encrypted"});
  EXPECT_EQ(run.out, "encrypted\n") << run.err;
}

TEST_F(NodeTest, WarnsIfTokensOfOtherMachinesAreNotEncrypted) {
  const Process& open = StartNode({}, "0.0.0.0:0");
  EXPECT_THAT(open.Stderr(), HasSubstr("rendezvous.plain"));
  const Process& behind_proxy = StartNode({"--public-url", "https://rv.example.org/team"}, "0.0.0.0:0");
  EXPECT_THAT(behind_proxy.Stderr(), Not(HasSubstr("rendezvous.plain")));
  const Process& local = StartNode();
  EXPECT_THAT(local.Stderr(), Not(HasSubstr("rendezvous.plain")));
}

TEST_F(NodeTest, ThePublicUrlIsThatOfTheConnections) {
  StartNode({"--public-url", "https://rv.example.org/team/"});
  EXPECT_THAT(Register("build-7"), StartsWith("wss://rv.example.org/team/rendezvous/build-7?ticket="));
}

TEST_F(NodeTest, NoTokenAndNoTicketIsInAnyLog) {
  Process& node = StartNode();
  Process& executor = StartExecutor("build-7");
  ASSERT_TRUE(AwaitConnections(1));
  RpcClient client = support::RpcClient::Ready(ClientUrl("build-7"));
  client.Start(support::Shell("p", "echo on"));
  EXPECT_EQ(client.WaitForClosed("p"), "on\n");
  const std::string url = Register("build-7"), ticket = url.substr(url.find('=') + 1);
  EXPECT_EQ(Upgrade("/rendezvous/build-7?ticket=x" + ticket, "").status, 401);
  EXPECT_EQ(Upgrade("/executors/test-7?token=" + std::string(kAlice), "").status, 403);
  EXPECT_EQ(Get("/executors", "another-secret-token").status, 401);
  client.Disconnect();
  node.Stop();
  ASSERT_TRUE(support::Eventually([&] { return executor.Stderr().contains("rendezvous.pause"); }));
  for (const std::string& log : {node.Stderr(), executor.Stderr()}) {
    for (const char* secret : {kFarm, kAlice, "another-secret-token", "ticket=", "token="}) {
      EXPECT_THAT(log, Not(HasSubstr(secret)));
    }
    EXPECT_THAT(log, Not(HasSubstr(ticket.substr(0, 20))));
  }
  EXPECT_THAT(node.Stderr(), HasSubstr("client.joined"));
}

TEST_F(NodeTest, AMistakeIsToldAtTheStart) {
  const auto error_of = [](std::vector<std::string> words) {
    words.insert(words.begin(), "rendezvous");
    const auto finished = support::RunHoldfast(words);
    return fmt::format("{}: {}", finished.exit_code, finished.err);
  };
  EXPECT_THAT(error_of({"--tokens", tokens_file_}), StartsWith("2: holdfast rendezvous: --listen and --tokens"));
  EXPECT_THAT(error_of({"--listen", "127.0.0.1:0", "--tokens", "/none.toml"}),
              StartsWith("1: holdfast: open /none.toml: No such file"));
  EXPECT_THAT(error_of({"--listen", "127.0.0.1:0", "--tokens", tokens_file_, "--max-connections", "0"}),
              StartsWith("2: "));
}

TEST_F(NodeTest, OptionsThatDoNotFitAreMistakesOfUsage) {
  struct Row {
    std::vector<std::string> options;
    const char* complaint;
  };
  const Row rows[] = {
      {{"--listen", "localhost"}, "--listen localhost: expected IP:PORT"},
      {{"--bus", "kafka"}, "--bus: expected memory"},
      {{"--bus", "nats://"}, "has no host"},
      {{"--bus", "nats://user:secret@a:1,b:2"}, "does not begin with nats:// or tls://"},
      {{"--nats-credentials", "file"}, "--nats-credentials needs a NATS server"},
      {{"--tls-cert", "c.pem"}, "Use --tls-cert and --tls-key"},
      {{"--tls-key", "k.pem"}, "Use --tls-cert and --tls-key"},
      {{"--public-url", "rv.example.org"}, "--public-url rv.example.org: expected an http"},
  };
  for (const Row& row : rows) {
    std::vector<std::string> words = {"rendezvous", "--tokens", tokens_file_};
    if (row.options[0] != "--listen") words.insert(words.end(), {"--listen", "127.0.0.1:0"});
    words.insert(words.end(), row.options.begin(), row.options.end());
    const auto finished = support::RunHoldfast(words);
    EXPECT_EQ(finished.exit_code, 2) << row.options[0];
    EXPECT_THAT(finished.err, AllOf(StartsWith("holdfast rendezvous: "), HasSubstr(row.complaint)));
    EXPECT_THAT(finished.err, Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace holdfast::rendezvous
