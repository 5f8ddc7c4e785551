// A rendezvous that joins one client to each connection, and executors that always keep one connection waiting.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remote/executor.h"
#include "remote/executor_fixture.h"

namespace holdfast::remote {
namespace {

using support::RpcClient;
using support::ServerProcess;
using testing::EndsWith;
using namespace std::chrono_literals;

class ManyClientsTest : public ExecutorFixture {
 protected:
  void SetUp() override { registry_.SendTo(rendezvous_.url(), R"(,"connections":"many")"); }
};

TEST_F(ManyClientsTest, TheNextConnectionWaitsAsSoonAsAClientSpeaks) {
  const ServerProcess executor = Start();
  RpcClient first = JoinNext();
  RpcClient second = JoinNext();
  first.Start(support::Shell("p", "read line; echo first $line", support::Stdin::kPipe));
  second.Start(support::Shell("p", "read line; echo second $line", support::Stdin::kPipe));
  first.Write("p", "1\n");
  second.Write("p", "2\n");
  EXPECT_EQ(second.WaitForClosed("p"), "second 2\n");
  EXPECT_EQ(first.WaitForClosed("p"), "first 1\n");
  const Visit waiting = rendezvous_.Accept();
  EXPECT_TRUE(waiting);
  EXPECT_EQ(registry_.arrivals().size(), 1u);
}

TEST_F(ManyClientsTest, OneConnectionWaitsWhileNoClientSpeaks) {
  const ServerProcess executor = Start();
  RpcClient silent(rendezvous_.Accept().Join());
  EXPECT_FALSE(rendezvous_.Accept(300ms));
  silent.Handshake();
  EXPECT_TRUE(rendezvous_.Accept());
}

TEST_F(ManyClientsTest, WithoutTheMemberThereIsOneConnectionOnly) {
  registry_.SendTo(rendezvous_.url(), R"(,"connections":"one")");
  const ServerProcess executor = Start();
  RpcClient client = JoinNext();
  EXPECT_FALSE(rendezvous_.Accept(1500ms));
  client.Start(support::Shell("p", "echo on"));
  EXPECT_EQ(client.WaitForClosed("p"), "on\n");
}

TEST_F(ManyClientsTest, ARefusedConnectionDoesNotDisturbTheOthers) {
  const ServerProcess executor = Start();
  RpcClient first = JoinNext();
  first.Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  rendezvous_.Accept().Refuse("409 Conflict");
  RpcClient second = JoinNext();
  EXPECT_EQ(registry_.arrivals().size(), 2u);
  first.Write("p", "undisturbed\n");
  EXPECT_EQ(first.WaitForClosed("p"), "undisturbed\n");
}

TEST_F(ManyClientsTest, HoldsNoMoreConnectionsThanAllowed) {
  const ServerProcess executor = Start({"--max-connections", "2"});
  RpcClient first = JoinNext();
  RpcClient second = JoinNext();
  EXPECT_FALSE(rendezvous_.Accept(300ms));
  first.Disconnect();
  EXPECT_TRUE(rendezvous_.Accept());
}

TEST_F(ManyClientsTest, OutlivesARegistryThatIsAwayForAWhile) {
  ServerProcess executor = Start();
  RpcClient first = JoinNext();
  first.Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  registry_.Answer(503, "");
  rendezvous_.Accept().Refuse("503 Service Unavailable");
  ASSERT_TRUE(registry_.AwaitArrivals(2));
  registry_.SendTo(rendezvous_.url(), R"(,"connections":"many")");
  RpcClient second = JoinNext();
  first.Write("p", "alive\n");
  EXPECT_EQ(first.WaitForClosed("p"), "alive\n");
}

TEST_F(ManyClientsTest, StillEndsWhenTheRegistryRefusesItsToken) {
  ServerProcess executor = Start();
  RpcClient first = JoinNext();
  registry_.Answer(401, "revoked");
  rendezvous_.Accept().Refuse("401 Unauthorized");
  EXPECT_EQ(executor.WaitForExit(), 1);
  EXPECT_THAT(executor.Stderr(), EndsWith("(401 Unauthorized): revoked\n"));
}

}  // namespace
}  // namespace holdfast::remote
