// Two nodes with NATS between them: the real programs.
#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/metrics_text.h"
#include "rendezvous/node_fixture.h"
#include "support/nats_server.h"
#include "support/required_program.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using support::Message;
using support::RpcClient;

class TwoNodesTest : public NodeFixture {
 protected:
  static void SetUpTestSuite() { (void)support::RequireProgram("nats-server"); }

  // The executor is at the first node, and the clients of the test at the second.
  void SetUp() override {
    first_ = &StartNode({"--bus", nats_.url()});
    first_url_ = url_;
    StartExecutor("build-7");
    second_ = &StartNode({"--bus", nats_.url()});
    ASSERT_TRUE(AwaitConnections(1));
  }

  support::NatsServer nats_;
  Process *first_ = nullptr, *second_ = nullptr;
  std::string first_url_;
};

TEST_F(TwoNodesTest, AClientOfOneNodeUsesAnExecutorOfTheOther) {
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "read line; echo got $line; seq 1 100000", support::Stdin::kPipe));
  client.Write("p", "this\n");
  const std::string output = client.WaitForClosed("p", 60s);
  EXPECT_TRUE(output.starts_with("got this\n1\n2\n"));
  EXPECT_TRUE(output.ends_with("\n99999\n100000\n"));
  const MetricsText metrics(Get("/metrics").body);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_joins_total{place=\"executor_elsewhere\"}"), 1);
  EXPECT_EQ(metrics.Value("holdfast_rendezvous_joins_total{place=\"local\"}"), 0);
}

TEST_F(TwoNodesTest, ATicketOfOneNodeIsValidAtTheOther) {
  const std::string url = Register("build-8");
  const std::string ticket = url.substr(url.find("/rendezvous"));
  support::WebSocketClient executor = support::WebSocketClient::Connect("ws" + first_url_.substr(4) + ticket);
  EXPECT_TRUE(AwaitConnections(2));
}

TEST_F(TwoNodesTest, TheEndOfTheExecutorEndsTheClientAtTheOtherNode) {
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "sleep 1000"));
  for (Process& process : processes_) {
    if (&process != first_ && &process != second_) process.Kill();
  }
  EXPECT_TRUE(client.WaitForEnd(3s));
}

TEST_F(TwoNodesTest, ANodeThatIsKilledIsNoticedAtOnceAndItsClientResumesAtTheOther) {
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  const std::string session = client.session_id();
  second_->Kill();
  EXPECT_TRUE(client.WaitForEnd());
  url_ = first_url_;
  EXPECT_TRUE(
      support::Eventually([&] { return Get("/metrics").body.contains("\nholdfast_rendezvous_pairs 0\n"); }, 1s));
  RpcClient resumed = RpcClient::Resumed(ClientUrl("build-7"), session);
  resumed.Write("p", "here now\n");
  EXPECT_EQ(resumed.WaitForClosed("p"), "here now\n");
}

// The first node takes a node that stands still for alive, so the executor has to ask the client at the other end of
// the old connection.
TEST_F(TwoNodesTest, AClientResumesItsSessionAtTheOtherNodeWhileItsOwnStandsStill) {
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  const std::string session = client.session_id();
  second_->Signal(SIGSTOP);
  client.Disconnect();
  url_ = first_url_;
  ASSERT_TRUE(Get("/metrics").body.contains("\nholdfast_rendezvous_pairs 1\n")) << "the silence was noticed already";
  RpcClient resumed = RpcClient::Resumed(ClientUrl("build-7"), session);
  resumed.Write("p", "here now\n");
  EXPECT_EQ(resumed.WaitForClosed("p"), "here now\n");
  second_->Signal(SIGCONT);
}

}  // namespace
}  // namespace holdfast::rendezvous
