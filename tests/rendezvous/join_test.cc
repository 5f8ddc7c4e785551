// Clients and executors that meet at a node: the real programs.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/node_fixture.h"
#include "support/proc.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using support::RpcClient;
using testing::Contains;
using testing::Not;

// A client that waits for an executor is refused after five seconds, so a test that restarts something tries again.
constexpr auto kRestartPatience = 30s;

class JoinTest : public NodeFixture {
 protected:
  void SetUp() override { StartNode(); }

  // Waits until the node has a connection that a client can be joined to.
  bool AwaitWaiting() const {
    return support::Eventually(
        [&] { return Get("/metrics").body.contains("\nholdfast_rendezvous_waiting_connections 1\n"); },
        kRestartPatience);
  }
};

TEST_F(JoinTest, AClientRunsCommandsOfAnExecutor) {
  StartExecutor("build-7");
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "read line; echo got $line", support::Stdin::kPipe));
  client.Write("p", "this\n");
  EXPECT_EQ(client.WaitForClosed("p"), "got this\n");
}

TEST_F(JoinTest, ADirectExecutorServesToo) {
  StartEnvironment("build-8");
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-8");
  client.Start(support::Shell("p", "echo direct"));
  EXPECT_EQ(client.WaitForClosed("p"), "direct\n");
}

TEST_F(JoinTest, SeveralClientsUseOneExecutorAtOnce) {
  StartExecutor("build-7");
  ASSERT_TRUE(AwaitWaiting());
  std::vector<RpcClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(Client("build-7"));
    clients.back().Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  }
  for (size_t i = 0; i < clients.size(); ++i) clients[i].Write("p", fmt::format("client {}\n", i));
  for (size_t i = clients.size(); i-- > 0;) {
    EXPECT_EQ(clients[i].WaitForClosed("p"), fmt::format("client {}\n", i));
  }
}

TEST_F(JoinTest, AClientReachesTheExecutorThatItAsksFor) {
  const std::vector<Process*> executors = {&StartExecutor("build-1"), &StartExecutor("build-2")};
  ASSERT_TRUE(AwaitConnections(2));
  for (const size_t chosen : {1u, 0u}) {
    RpcClient client = Client(fmt::format("build-{}", chosen + 1));
    client.Start(support::Shell("p", "echo $$; read line", support::Stdin::kPipe));
    const pid_t command = std::stoi(client.WaitForOutput("p", "\n"));
    EXPECT_THAT(support::DescendantsOf(executors[chosen]->pid()), Contains(command));
    EXPECT_THAT(support::DescendantsOf(executors[1 - chosen]->pid()), Not(Contains(command)));
  }
}

TEST_F(JoinTest, LongOutputArrivesWhole) {
  StartExecutor("build-7");
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "seq 1 300000"));
  const std::string output = client.WaitForClosed("p", 60s);
  EXPECT_TRUE(output.ends_with("\n299999\n300000\n"));
  EXPECT_EQ(output.size(), 1988895u);
}

TEST_F(JoinTest, AClientThatIsCutResumesItsSession) {
  StartExecutor("build-7");
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  const std::string session = client.session_id();
  client.Disconnect();
  ASSERT_TRUE(AwaitWaiting());
  RpcClient resumed = RpcClient::Resumed(ClientUrl("build-7"), session);
  resumed.Write("p", "still there\n");
  EXPECT_EQ(resumed.WaitForClosed("p"), "still there\n");
}

TEST_F(JoinTest, TheEndOfAnExecutorEndsTheConnectionOfItsClient) {
  Process& executor = StartExecutor("build-7");
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "sleep 1000"));
  executor.Kill();
  EXPECT_TRUE(client.WaitForEnd(3s));
}

TEST_F(JoinTest, TheEndOfAClientIsToldToTheExecutor) {
  StartExecutor("build-7", {"--detached-ttl-ms", "0"});
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "echo $$; read line", support::Stdin::kPipe));
  const pid_t command = std::stoi(client.WaitForOutput("p", "\n"));
  EXPECT_TRUE(support::IsAlive(command));
  client.Disconnect();
  EXPECT_TRUE(support::Eventually([&] { return !support::IsAlive(command); }));  // the executor has ended the session
  EXPECT_TRUE(support::Eventually([&] { return Get("/metrics").body.contains("\nholdfast_rendezvous_pairs 0\n"); }));
}

TEST_F(JoinTest, AClientResumesItsSessionAtANodeThatWasStartedAgain) {
  StartExecutor("build-7");
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  const std::string session = client.session_id(), same_address = address();
  processes_.front().Kill();
  EXPECT_TRUE(client.WaitForEnd());
  StartNode({}, same_address);
  ASSERT_TRUE(AwaitWaiting());
  RpcClient resumed = RpcClient::Resumed(ClientUrl("build-7"), session);
  resumed.Write("p", "another node\n");
  EXPECT_EQ(resumed.WaitForClosed("p"), "another node\n");
}

// A node that is started again has another key, so the ticket of the executor is not valid there.
TEST_F(JoinTest, ADirectExecutorRegistersAgainAtANodeThatWasStartedAgain) {
  StartEnvironment("build-7");
  ASSERT_TRUE(AwaitWaiting());
  const std::string same_address = address();
  processes_.front().Kill();
  StartNode({}, same_address);
  ASSERT_TRUE(AwaitWaiting());
  RpcClient client = Client("build-7");
  client.Start(support::Shell("p", "echo again"));
  EXPECT_EQ(client.WaitForClosed("p"), "again\n");
}

}  // namespace
}  // namespace holdfast::rendezvous
