#include "rendezvous/service.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/metrics_text.h"
#include "rendezvous/service_fixture.h"

namespace holdfast::rendezvous {
namespace {

using support::Message;
using testing::HasSubstr;
using testing::StartsWith;

class RegistrationServiceTest : public ServiceFixture {};
class ExecutorServiceTest : public ServiceFixture {};
class ClientServiceTest : public ServiceFixture {};
class WithdrawnTokenTest : public ServiceFixture {};
class NodeServiceTest : public ServiceFixture {};

TEST_F(RegistrationServiceTest, AnswersWithTheUrlToConnectTo) {
  const Exchange exchange = Send("POST", "/cloud/executor/build-7/register", "farm", "{}");
  ASSERT_EQ(exchange->status(), 200u);
  const Message answer(exchange->answer->body);
  EXPECT_EQ(answer.Text("executor_id"), "build-7");
  EXPECT_EQ(answer.Text("connections"), "many");
  EXPECT_THAT(answer.Text("url"), StartsWith("ws://rv.example:8080/rendezvous/build-7?ticket="));
  EXPECT_EQ(exchange->answer->content_type, "application/json");
}

TEST_F(RegistrationServiceTest, AnEnvironmentIsAnsweredInItsForm) {
  const Exchange exchange =
      Send("POST", "/cloud/environment/build-7/direct/register", "farm", R"({"transport":"direct_jsonrpc_v1"})");
  ASSERT_EQ(exchange->status(), 200u);
  EXPECT_EQ(Message(exchange->answer->body).Text("environment_id"), "build-7");
}

TEST_F(RegistrationServiceTest, AHostThatIsNotOneIsNotRepeated) {
  for (const char* host : {"a/b", "a b", "u@h", "h?x", "", "h#"}) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->request = {.method = "POST",
                         .path = "/cloud/executor/build-7/register",
                         .query = {},
                         .headers = {{"Host", host}, {"Authorization", "Bearer farm"}},
                         .body = "{}"};
    Send(exchange);
    EXPECT_THAT(Message(exchange->answer->body).Text("url"), StartsWith("ws://10.0.0.1:80/rendezvous/")) << host;
  }
}

TEST_F(RegistrationServiceTest, NeedsATokenOfAnExecutorForTheId) {
  const auto register_with = [&](std::string_view token) {
    return Send("POST", "/cloud/executor/build-7/register", token, "{}");
  };
  EXPECT_EQ(register_with("")->status(), 401u);
  EXPECT_EQ(register_with("wrong")->status(), 401u);
  EXPECT_EQ(register_with("alice")->status(), 401u);
  const Exchange other_id = register_with("lone");
  EXPECT_EQ(other_id->status(), 403u);
  EXPECT_EQ(Message(other_id->answer->body).Text("error.code"), "id_not_allowed");
  EXPECT_EQ(Send("POST", "/cloud/executor/build-7/register?token=farm", "", "{}")->status(), 401u);
}

TEST_F(RegistrationServiceTest, RefusesABadBodyAndABadId) {
  const Exchange exchange = Send("POST", "/cloud/executor/build-7/register", "farm", "{\"executor_id\":\"x\"}");
  EXPECT_EQ(exchange->status(), 400u);
  EXPECT_EQ(Message(exchange->answer->body).Text("error.message"), "executor_id is not the id of the path");
  EXPECT_EQ(Send("POST", "/cloud/executor/a%2Fb/register", "farm", "{}")->status(), 400u);
}

TEST_F(RegistrationServiceTest, AnAddressWithManyFailuresIsToldToWait) {
  for (int i = 0; i < auth::AttemptLimit::kMaxFailures; ++i) Send("GET", "/executors", "wrong");
  EXPECT_EQ(Send("GET", "/executors", "wrong")->status(), 429u);
  EXPECT_EQ(Send("POST", "/cloud/executor/build-7/register", "wrong", "{}")->status(), 503u);
}

TEST_F(RegistrationServiceTest, AValidTokenIsServedBesideTheFailuresOfItsAddress) {
  for (int i = 0; i <= auth::AttemptLimit::kMaxFailures; ++i) Send("GET", "/executors", "wrong");
  EXPECT_EQ(Send("GET", "/executors", "alice")->status(), 200u);
  EXPECT_EQ(Send("POST", "/cloud/executor/build-7/register", "farm", "{}")->status(), 200u);
}

TEST_F(ExecutorServiceTest, ATicketIsForOneExecutor) {
  const std::string path = Register("build-7", "farm");
  EXPECT_EQ(Send("GET", "/rendezvous/build-8" + path.substr(path.find('?')))->status(), 401u);
  EXPECT_EQ(Send("GET", "/rendezvous/build-7")->status(), 401u);
  EXPECT_EQ(Send("GET", path + "x")->status(), 401u);
  EXPECT_TRUE(Send("GET", path)->upgraded);
  EXPECT_TRUE(Send("GET", path)->upgraded);
}

TEST_F(ExecutorServiceTest, AnswersA426WithoutAnUpgrade) {
  auto exchange = std::make_shared<FakeExchange>();
  const std::string path = Register("build-7", "farm");
  exchange->asks_for_web_socket = false;
  exchange->request.method = "GET";
  exchange->request.path = path.substr(0, path.find('?'));
  exchange->request.query = path.substr(path.find('?') + 1);
  EXPECT_EQ(Send(exchange)->status(), 426u);
}

TEST_F(ExecutorServiceTest, IsPublishedUntilItsConnectionEnds) {
  (void)Connect("build-7", "farm");
  ASSERT_FALSE(bus_.published.empty());
  EXPECT_EQ(bus_.published.back().name, "N");
  on_ended_.back()();
  EXPECT_EQ(bus_.withdrawn, std::vector<std::string>{"build-7"});
}

TEST_F(ClientServiceTest, IsJoinedToTheExecutor) {
  const auto executor = Connect("build-7", "farm");
  ASSERT_TRUE(Send("GET", "/executors/build-7", "alice")->upgraded);
  const auto client = pipes_.back();
  client->Deliver("to the executor");
  executor->Deliver("to the client");
  EXPECT_EQ(executor->sent(), "to the executor");
  EXPECT_EQ(client->sent(), "to the client");
}

TEST_F(ClientServiceTest, MayHaveItsTokenInTheQuery) {
  (void)Connect("build-7", "farm");
  EXPECT_TRUE(Send("GET", "/executors/build-7?token=alice")->upgraded);
}

TEST_F(ClientServiceTest, TheEndOfOneSideEndsTheOther) {
  const auto executor = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  executor->HangUp();
  EXPECT_TRUE(pipes_.back()->closed());
  EXPECT_EQ(bus_.withdrawn, std::vector<std::string>{"build-7"});
  const auto second = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  pipes_.back()->HangUp();
  EXPECT_TRUE(second->closed());
}

TEST_F(ClientServiceTest, WithoutARightIsRefused) {
  (void)Connect("build-7", "farm");
  EXPECT_EQ(Send("GET", "/executors/build-7")->status(), 401u);
  EXPECT_EQ(Send("GET", "/executors/build-7", "wrong")->status(), 401u);
  EXPECT_EQ(Send("GET", "/executors/build-7", "farm")->status(), 401u);
  EXPECT_EQ(Send("GET", "/executors/build-7", "bob")->status(), 403u);
  EXPECT_EQ(pipes_.size(), 1u);
}

TEST_F(ClientServiceTest, AnUnknownExecutorIsAnsweredAtOnce) {
  EXPECT_EQ(Send("GET", "/executors/build-7", "alice")->status(), 404u);
  neighbours_.why_not = NotElsewhere::kNotReady;
  EXPECT_EQ(Send("GET", "/executors/build-7", "alice")->status(), 503u);
}

TEST_F(ClientServiceTest, WaitsForAConnectionOfAKnownExecutor) {
  const std::string path = Register("build-7", "farm");
  const Exchange first = Send("GET", "/executors/build-7", "alice");
  const Exchange second = Send("GET", "/executors/build-7", "alice");
  EXPECT_FALSE(first->upgraded || first->answer);
  Send("GET", path);
  EXPECT_TRUE(first->upgraded);
  EXPECT_FALSE(second->upgraded);
  Send("GET", path);
  EXPECT_TRUE(second->upgraded);
}

TEST_F(ClientServiceTest, IsRefusedWhenNoConnectionComes) {
  Register("build-7", "farm");
  const Exchange exchange = Send("GET", "/executors/build-7", "alice");
  ASSERT_TRUE(Await([&] { return exchange->answer.has_value(); }));
  EXPECT_EQ(exchange->status(), 503u);
  EXPECT_THAT(exchange->answer->headers, testing::Contains(testing::Pair("Retry-After", "1")));
}

TEST_F(ClientServiceTest, IsToldWhyNoOtherNodeHasAConnection) {
  Register("build-7", "farm");
  const auto code_after = [&](NotElsewhere why) {
    neighbours_.why_not = why;
    const Exchange exchange = Send("GET", "/executors/build-7", "alice");
    EXPECT_TRUE(Await([&] { return exchange->answer.has_value(); }));
    return Message(exchange->answer->body).Text("error.code");
  };
  EXPECT_EQ(code_after(NotElsewhere::kNotReady), "not_ready");
  EXPECT_EQ(code_after(NotElsewhere::kUnreachable), "node_unreachable");
  EXPECT_EQ(code_after(NotElsewhere::kNoneWaits), "none_waits");
  EXPECT_EQ(code_after(NotElsewhere::kUnknown), "none_waits");  // it has registered here
}

TEST_F(ClientServiceTest, ThatHangsUpWhileOtherNodesAreAskedIsNotRefused) {
  const auto elsewhere = std::make_shared<FakePipe>();
  neighbours_.waiting = elsewhere;
  auto exchange = std::make_shared<FakeExchange>();
  exchange->request.method = "GET";
  exchange->request.path = "/executors/build-7";
  exchange->request.query = "token=alice";
  neighbours_.on_join = [exchange] { exchange->gone = true; };
  Send(exchange);
  EXPECT_TRUE(elsewhere->closed());
  EXPECT_FALSE(exchange->upgraded || exchange->answer);
  EXPECT_EQ(MetricsText(MetricsNow()).Value("holdfast_rendezvous_refusals_total{reason=\"bad_token\"}"), 0);
}

TEST_F(ClientServiceTest, ThatHasHungUpTakesNoConnection) {
  const std::string path = Register("build-7", "farm");
  const Exchange gone = Send("GET", "/executors/build-7", "alice");
  gone->gone = true;
  Send("GET", path);
  EXPECT_FALSE(gone->upgraded);
  EXPECT_TRUE(Send("GET", "/executors/build-7", "alice")->upgraded);
}

TEST_F(ClientServiceTest, IsJoinedToAnExecutorOfAnotherNode) {
  const auto elsewhere = std::make_shared<FakePipe>();
  neighbours_.waiting = elsewhere;
  ASSERT_TRUE(Send("GET", "/executors/build-7", "alice")->upgraded);
  pipes_.back()->Deliver("hello");
  EXPECT_EQ(elsewhere->sent(), "hello");
}

TEST_F(ClientServiceTest, AsksTheOtherNodesAgainWhileItWaits) {
  neighbours_.why_not = NotElsewhere::kNoneWaits;
  const Exchange exchange = Send("GET", "/executors/build-7", "alice");
  EXPECT_FALSE(exchange->upgraded || exchange->answer);
  neighbours_.waiting = std::make_shared<FakePipe>();
  EXPECT_TRUE(Await([&] { return exchange->upgraded; }));
}

TEST_F(ClientServiceTest, ThatSaysNothingMakesRoomForTheNext) {
  const auto executor = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  const auto silent = pipes_.back();
  ASSERT_TRUE(Await([&] { return silent->closed(); }));
  EXPECT_TRUE(executor->closed());
  (void)Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  const auto speaking = pipes_.back();
  speaking->Deliver("x");
  const Exchange later = Send("GET", "/executors/build-7", "alice");
  ASSERT_TRUE(Await([&] { return later->answer.has_value(); }));
  EXPECT_FALSE(speaking->closed());
}

TEST_F(ClientServiceTest, ThatSendsNoWholeMessageMakesRoomForTheNext) {
  const auto executor = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  const auto client = pipes_.back();
  client->Deliver(FakePipe::kOnlyPings);
  ASSERT_TRUE(Await([&] { return client->closed(); }));
  EXPECT_TRUE(executor->closed());
}

TEST_F(WithdrawnTokenTest, EndsTheConnectionsOfAnExecutor) {
  const std::string path = Register("build-7", "farm");
  Send("GET", path);
  const auto waiting = pipes_.back();
  const auto joined = Connect("build-8", "farm");
  Send("GET", "/executors/build-8", "alice");
  const auto client = pipes_.back();
  service_.ReplaceTokens(Tokens("executor:lone x;client:alice *"));
  EXPECT_TRUE(waiting->closed());
  EXPECT_TRUE(joined->closed());
  EXPECT_TRUE(client->closed());
  EXPECT_EQ(Send("GET", path)->status(), 401u);
}

TEST_F(WithdrawnTokenTest, EndsTheConnectionsOfAClient) {
  const auto joined = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  const auto client = pipes_.back();
  const auto waiting = Connect("build-7", "farm");
  service_.ReplaceTokens(Tokens("executor:farm build-*;client:alice x"));
  EXPECT_TRUE(joined->closed());
  EXPECT_TRUE(client->closed());
  EXPECT_FALSE(waiting->closed());
}

TEST_F(WithdrawnTokenTest, RefusesAClientThatWaits) {
  const std::string path = Register("build-7", "farm");
  const Exchange exchange = Send("GET", "/executors/build-7", "alice");
  service_.ReplaceTokens(Tokens("executor:farm build-*"));
  Send("GET", path);
  EXPECT_EQ(exchange->status(), 401u);
}

TEST_F(WithdrawnTokenTest, OtherConnectionsStay) {
  const auto joined = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  service_.ReplaceTokens(Tokens("executor:farm build-7;client:alice build-7"));
  EXPECT_FALSE(joined->closed());
  EXPECT_FALSE(pipes_.back()->closed());
}

TEST_F(NodeServiceTest, LimitsTheConnectionsOfAToken) {
  service_.ReplaceTokens(Tokens("executor:farm build-*;client:alice build-*", "max_connections = 2"));
  const std::string path = Register("build-7", "farm");
  EXPECT_TRUE(Send("GET", path)->upgraded);
  const auto executor = pipes_.back();
  EXPECT_TRUE(Send("GET", path)->upgraded);
  const Exchange third = Send("GET", path);
  ASSERT_EQ(third->status(), 429u);
  EXPECT_EQ(Message(third->answer->body).Text("error.code"), "token_is_full");
  EXPECT_TRUE(Send("GET", "/executors/build-7", "alice")->upgraded);
  EXPECT_EQ(Send("GET", path)->status(), 429u);
  pipes_.back()->HangUp();
  EXPECT_TRUE(Send("GET", path)->upgraded);
}

TEST_F(NodeServiceTest, LimitsTheConnectionsOfAClientsToken) {
  service_.ReplaceTokens(
      Tokens("executor:farm build-*;client:alice build-*;client:bob build-*", "max_connections = 1"));
  (void)Connect("build-7", "farm");
  EXPECT_TRUE(Send("GET", "/executors/build-7", "alice")->upgraded);
  const auto client = pipes_.back();
  const Exchange second = Send("GET", "/executors/build-7", "alice");
  ASSERT_EQ(second->status(), 429u);
  EXPECT_EQ(Message(second->answer->body).Text("error.code"), "token_is_full");
  EXPECT_EQ(Send("GET", "/executors/build-7", "bob")->status(), 0u);  // another token, which waits
  client->HangUp();
  (void)Connect("build-7", "farm");
  EXPECT_EQ(Send("GET", "/executors/build-7", "alice")->status(), 0u);
}

TEST_F(NodeServiceTest, ListsTheExecutorsOfAllNodes) {
  (void)Connect("build-7", "farm");
  (void)Connect("x", "lone");
  bus_.others = {{.id = "build-9", .name = "far", .since_ms = 0, .waiting = 0, .sessions = 4}};
  const Message list(Send("GET", "/executors", "alice")->answer->body);
  ASSERT_EQ(list.Size("executors"), 2u);
  EXPECT_EQ(list.Text("executors.0.id"), "build-7");
  EXPECT_EQ(list.Text("executors.0.name"), "N");
  EXPECT_EQ(list.Number("executors.0.sessions"), 0);
  EXPECT_EQ(list.Text("executors.1.id"), "build-9");
  EXPECT_EQ(list.Number("executors.1.sessions"), 4);
  EXPECT_EQ(Send("GET", "/executors")->status(), 401u);
}

TEST_F(NodeServiceTest, CountsAListThatIsNotReadAsAConnection) {
  service_.ReplaceTokens(Tokens("client:alice build-*", "max_connections = 1"));
  const Exchange unread = Send("GET", "/executors", "alice");
  EXPECT_EQ(unread->status(), 200u);
  EXPECT_EQ(Send("GET", "/executors", "alice")->status(), 429u);
  unread->answer->slot.reset();  // the list was read, and the socket is closed
  EXPECT_EQ(Send("GET", "/executors", "alice")->status(), 200u);
}

TEST_F(NodeServiceTest, JoinsAClientOfAnotherNode) {
  const auto executor = Connect("build-7", "farm");
  const auto client = std::make_shared<FakePipe>();
  EXPECT_FALSE(service_.JoinWaiting("build-8", client));
  EXPECT_TRUE(service_.JoinWaiting("build-7", client));
  EXPECT_FALSE(service_.JoinWaiting("build-7", client));
  client->Deliver("far");
  EXPECT_EQ(executor->sent(), "far");
  EXPECT_EQ(bus_.published.back().sessions, 1u);
}

TEST_F(NodeServiceTest, IsReadyWhileTheBusIsConnected) {
  EXPECT_EQ(Send("GET", "/readyz")->status(), 200u);
  bus_.is_connected = false;
  EXPECT_EQ(Send("GET", "/readyz")->status(), 503u);
  EXPECT_EQ(Send("POST", "/cloud/executor/build-7/register", "farm", "{}")->status(), 503u);
}

TEST_F(NodeServiceTest, RefusesTicketsWhileThereIsNoKey) {
  const std::string path = Register("build-7", "farm");
  bus_.key.clear();
  EXPECT_EQ(Send("GET", path)->status(), 503u);
}

// The other nodes may have another key by then. A ticket of the key that this node had is as good as before.
TEST_F(NodeServiceTest, CallsNoTicketBadWhileItIsNotConnected) {
  const std::string path = Register("build-7", "farm");
  bus_.is_connected = false;
  const Exchange unknown = Send("GET", path + "x");
  ASSERT_EQ(unknown->status(), 503u);
  EXPECT_EQ(Message(unknown->answer->body).Text("error.code"), "not_ready");
  EXPECT_TRUE(Send("GET", path)->upgraded);
}

TEST_F(NodeServiceTest, TheMetricsTellWhatIsThere) {
  const auto executor = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  executor->Deliver("12345");
  (void)Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "wrong");
  const MetricsText metrics(MetricsNow());
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_connections{role=\"executor\"}"), 2);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_connections{role=\"client\"}"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_executors"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_waiting_connections"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_pairs"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_relayed_bytes_total"), 5);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_joins_total{place=\"local\"}"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_registrations_total"), 2);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_refusals_total{reason=\"bad_token\"}"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_wait_seconds_count"), 1);
}

TEST_F(NodeServiceTest, TheBytesOfAPairCountAfterItsEnd) {
  const auto executor = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  executor->Deliver("12345");
  executor->HangUp();
  const MetricsText metrics(MetricsNow());
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_relayed_bytes_total"), 5);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_pairs"), 0);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_connections{role=\"executor\"}"), 0);
}

TEST_F(NodeServiceTest, AStrangerNeedsATokenForTheMetrics) {
  EXPECT_EQ(Send("GET", "/metrics")->status(), 401u);
  EXPECT_EQ(Send("GET", "/metrics", "farm")->status(), 401u);
  EXPECT_EQ(Send("GET", "/metrics", "alice")->status(), 200u);
}

TEST_F(NodeServiceTest, AStoppedServiceClosesEverything) {
  const auto joined = Connect("build-7", "farm");
  Send("GET", "/executors/build-7", "alice");
  const auto client = pipes_.back();
  const auto waiting = Connect("build-7", "farm");
  service_.Stop();
  EXPECT_TRUE(joined->closed());
  EXPECT_TRUE(client->closed());
  EXPECT_TRUE(waiting->closed());
  const Exchange late = Send("GET", "/executors/build-7", "alice");
  ASSERT_EQ(late->status(), 503u);
  EXPECT_EQ(Message(late->answer->body).Text("error.message"), "the node is stopping");
  EXPECT_FALSE(service_.JoinWaiting("build-7", std::make_shared<FakePipe>()));
}

}  // namespace
}  // namespace holdfast::rendezvous
