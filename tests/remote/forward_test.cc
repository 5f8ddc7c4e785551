// `holdfast exec-server forward` between a rendezvous of the test's own and a real server.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remote/executor_fixture.h"
#include "remote/forwarder.h"
#include "support/scratch_dir.h"
#include "sys/io.h"

namespace holdfast::remote {
namespace {

using support::RpcClient;
using support::ServerProcess;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class ForwardTest : public ExecutorFixture {
 protected:
  void SetUp() override { registry_.SendTo(rendezvous_.url(), R"(,"connections":"many")"); }

  ServerProcess Forward(std::string_view server, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"exec-server", "forward", "--connect", std::string(server), "--remote", registry_.url(),
                               "--executor-id", "exec-1", "--name", "forwarded"});
    return ServerProcess::Launch(more, Environment());
  }

  static bool Logs(const ServerProcess& process, std::string_view text) {
    return support::Eventually([&] { return process.Stderr().contains(text); });
  }

  support::ScratchDir scratch_;
};

TEST_F(ForwardTest, JoinsEachClientToTheServer) {
  const ServerProcess server = ServerProcess::Start();
  ServerProcess forward = Forward(server.url());
  RpcClient first = JoinNext();
  RpcClient second = JoinNext();
  EXPECT_NE(first.session_id(), second.session_id());
  first.Start(support::Shell("p", "echo first"));
  second.Start(support::Shell("p", "echo second"));
  EXPECT_EQ(second.WaitForClosed("p"), "second\n");
  EXPECT_EQ(first.WaitForClosed("p"), "first\n");
  EXPECT_THAT(registry_.arrivals()[0].body, HasSubstr(R"("name":"forwarded")"));
  first.Disconnect();
  second.Disconnect();
  forward.Stop();
  EXPECT_EQ(forward.RestOfStdout(), "");
}

TEST_F(ForwardTest, ReadsTheTokenForTheRegistryFromItsInput) {
  const ServerProcess server = ServerProcess::Start();
  const ServerProcess forward = Forward(server.url(), {"--registration-bearer-stdin"});
  EXPECT_EQ(sys::Write(forward.input(), "from-stdin\n", 11), 11);
  RpcClient client = JoinNext();
  EXPECT_EQ(registry_.arrivals()[0].Header("authorization"), "Bearer from-stdin");
}

TEST_F(ForwardTest, CarriesMuchInOneMessage) {
  const ServerProcess server = ServerProcess::Start();
  const ServerProcess forward = Forward(server.url());
  RpcClient client = JoinNext();
  client.Start(support::Shell("p", "wc -c", support::Stdin::kPipe));
  client.Write("p", std::string(20 << 20, 'x'));
  client.CloseStdin("p");
  EXPECT_EQ(client.WaitForClosed("p"), "20971520\n");
}

TEST_F(ForwardTest, OffersAServerOnAUnixSocket) {
  const std::string url = "unix://" + scratch_.path() + "/s";
  const ServerProcess server = ServerProcess::Start({"--listen", url});
  const ServerProcess forward = Forward(url);
  RpcClient client = JoinNext();
  client.Start(support::Shell("p", "echo by lines"));
  EXPECT_EQ(client.WaitForClosed("p"), "by lines\n");
}

TEST_F(ForwardTest, SendsTheServerTheTokenOfAFile) {
  const std::string file = scratch_.Write("token", "a-token-of-the-server\n", 0600);
  const ServerProcess server = ServerProcess::Start({"--ws-auth", "capability-token", "--ws-token-file", file});
  ServerProcess forward = Forward(server.url(), {"--connect-token-file", file, "--log-level", "debug"});
  RpcClient client = JoinNext();
  client.Start(support::Shell("p", "echo admitted"));
  EXPECT_EQ(client.WaitForClosed("p"), "admitted\n");
  EXPECT_THAT(forward.Stderr(), Not(HasSubstr("a-token-of-the-server")));
}

TEST_F(ForwardTest, ConnectsToTheServerOnlyForAClientThatSpeaks) {
  const ServerProcess server = ServerProcess::Start();
  const ServerProcess forward = Forward(server.url());
  RpcClient client = rendezvous_.Accept().Join();
  EXPECT_THAT(server.Stderr(), Not(HasSubstr("connection.opened")));
  client.Handshake();
  EXPECT_TRUE(Logs(server, "connection.opened"));
}

TEST_F(ForwardTest, ClosesTheConnectionToTheServerWhenTheClientEnds) {
  const ServerProcess server = ServerProcess::Start();
  const ServerProcess forward = Forward(server.url());
  JoinNext().Disconnect();
  EXPECT_TRUE(Logs(server, "connection.closed"));
}

TEST_F(ForwardTest, ClosesTheClientWhenTheServerEnds) {
  ServerProcess server = ServerProcess::Start();
  const ServerProcess forward = Forward(server.url());
  RpcClient client = JoinNext();
  server.Stop();
  EXPECT_TRUE(client.WaitForEnd());
}

TEST_F(ForwardTest, StaysWhenTheServerCannotBeReached) {
  const std::string url = "unix://" + scratch_.path() + "/s";
  const ServerProcess forward = Forward(url);
  RpcClient early = rendezvous_.Accept().Join();
  early.Send("initialize", R"({"clientName":"test"})");
  EXPECT_TRUE(early.WaitForEnd());
  EXPECT_TRUE(Logs(forward, "forward.unreachable"));
  const ServerProcess server = ServerProcess::Start({"--listen", url});
  RpcClient late = JoinNext();
  late.Start(support::Shell("p", "echo late"));
  EXPECT_EQ(late.WaitForClosed("p"), "late\n");
}

TEST_F(ForwardTest, ASessionOutlivesACutConnection) {
  const ServerProcess server = ServerProcess::Start();
  const ServerProcess forward = Forward(server.url());
  RpcClient client = JoinNext();
  client.Start(support::Shell("p", "read line; echo $line", support::Stdin::kPipe));
  const std::string session = client.session_id();
  client.Disconnect();
  ASSERT_TRUE(Logs(server, "connection.closed"));
  RpcClient resumed = JoinNext(session);
  resumed.Write("p", "resumed\n");
  resumed.WaitForOutput("p", "resumed");
}

TEST_F(ForwardTest, RefusesACommandLineThatLacksSomething) {
  const std::vector<std::string> words = {"--connect",          "ws://127.0.0.1:1", "--remote",
                                          "http://127.0.0.1:1", "--executor-id",    "e"};
  for (size_t left_out = 0; left_out < words.size(); left_out += 2) {
    std::vector<std::string> rest = words;
    rest.erase(rest.begin() + static_cast<long>(left_out), rest.begin() + static_cast<long>(left_out) + 2);
    rest.insert(rest.begin(), {"exec-server", "forward"});
    ServerProcess forward = ServerProcess::Launch(rest, Environment());
    EXPECT_EQ(forward.WaitForExit(), 2) << words[left_out];
    EXPECT_THAT(forward.Stderr(), MatchesRegex("holdfast exec-server forward: --.*; see holdfast exec-server forward "
                                               "--help\n"));
  }
}

}  // namespace
}  // namespace holdfast::remote
