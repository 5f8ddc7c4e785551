// An executor whose connections are cut: its sessions and processes live on, and nothing is lost.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remote/executor.h"
#include "remote/executor_fixture.h"
#include "support/proc.h"

namespace holdfast::remote {
namespace {

using support::RpcClient;
using support::ServerProcess;
using testing::EndsWith;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class ReconnectTest : public ExecutorFixture {
 protected:
  // Reads the output of a process from after `seq` on, until the process has written something.
  static std::string ReadOn(RpcClient& client, const std::string& process, int64_t& seq) {
    std::string text;
    const auto answer =
        client.Call("process/read", support::IdParams(process, fmt::format(R"("afterSeq":{},"waitMs":2000)", seq)));
    for (size_t i = 0; i < answer.Size("result.chunks"); ++i) {
      const std::string chunk = fmt::format("result.chunks.{}", i);
      EXPECT_EQ(answer.Number(chunk + ".seq"), ++seq);
      text += answer.Bytes(chunk + ".chunk");
    }
    return text;
  }

  static std::string Numbers(int last) {
    std::string lines;
    for (int i = 1; i <= last; ++i) lines += fmt::format("{}\n", i);
    return lines;
  }
};

TEST_F(ReconnectTest, RegistersAgainAfterASecondWithTheSameId) {
  registry_.SendTo(rendezvous_.url());
  const ServerProcess executor = Start();
  JoinNext().Disconnect();
  const auto cut = Clock::now();
  ASSERT_TRUE(registry_.AwaitArrivals(2));
  EXPECT_GE(Clock::now() - cut, std::chrono::milliseconds(900));
  EXPECT_TRUE(rendezvous_.Accept());
  EXPECT_EQ(registry_.arrivals()[0].body, registry_.arrivals()[1].body);
  EXPECT_TRUE(support::Eventually([&] {
    const std::string log = executor.Stderr();
    const size_t first = log.find("registered with executor_id");
    return log.find("registered with executor_id", first + 1) != std::string::npos;
  }));
}

TEST_F(ReconnectTest, PausesLongerAfterEachFailureAndBrieflyAfterAConnection) {
  registry_.SendTo(rendezvous_.url());
  const ServerProcess executor = Start();
  rendezvous_.Accept().Refuse("500 Internal Server Error");
  rendezvous_.Accept().Refuse("403 Forbidden");
  JoinNext().Disconnect();
  const Visit kept_open = rendezvous_.Accept();  // a visit that ends would be one more failure
  EXPECT_TRUE(kept_open);
  std::string pauses;
  const std::string log = executor.Stderr();
  for (size_t at = 0; (at = log.find("rendezvous.pause", at)) != std::string::npos; ++at) {
    const size_t number = log.find("ms=", at) + 3;
    pauses += log.substr(number, log.find('\n', number) - number) + " ";
  }
  EXPECT_EQ(pauses, "1000 2000 1000 ");
}

TEST_F(ReconnectTest, ALaterRefusalOfTheRegistryIsFatal) {
  registry_.SendTo(rendezvous_.url());
  ServerProcess executor = Start();
  RpcClient client = JoinNext();
  client.Start(support::Shell("p", "sleep 1000"));
  registry_.Answer(410, R"({"error":{"code":"gone","message":"go away"}})");
  client.Disconnect();
  EXPECT_EQ(executor.WaitForExit(), 1);
  EXPECT_THAT(executor.Stderr(), EndsWith("Error: executor registry request failed (410 Gone, gone): go away\n"));
}

TEST_F(ReconnectTest, EveryNumberedLineArrivesOnceAndInOrderThroughCuts) {
  registry_.SendTo(rendezvous_.url());
  const ServerProcess executor = Start();
  RpcClient client = JoinNext();
  const std::string session = client.session_id();
  client.Start(support::Shell("p", "i=1; while [ $i -le 400 ]; do echo $i; i=$((i+1)); sleep 0.01; done"));
  std::string lines;
  int64_t seq = 0;
  for (int cut = 0; cut < 3; ++cut) {
    lines += ReadOn(client, "p", seq);
    client.Disconnect();  // the answers and notifications under way are lost
    client = JoinNext(session);
  }
  while (lines.size() < Numbers(400).size()) {
    const std::string more = ReadOn(client, "p", seq);
    ASSERT_NE(more, "");
    lines += more;
  }
  EXPECT_EQ(lines, Numbers(400));
}

TEST_F(ReconnectTest, KeepsASessionLongerThanTheDefaultOfAListeningServer) {
  registry_.SendTo(rendezvous_.url());
  const ServerProcess executor = Start({"--detached-ttl-ms", "500"});
  RpcClient client = JoinNext();
  const std::string session = client.session_id();
  client.Start(support::Shell("p", "echo before; read line; echo $line", support::Stdin::kPipe));
  client.WaitForOutput("p", "before");
  client.Disconnect();
  RpcClient resumed = JoinNext(session);  // comes a second later
  resumed.Write("p", "after\n");
  resumed.WaitForOutput("p", "after");
}

TEST_F(ReconnectTest, AKilledExecutorLeavesNoProcessBehind) {
  registry_.SendTo(rendezvous_.url());
  ServerProcess executor = Start();
  RpcClient client = JoinNext();
  client.Start(support::Shell("p", "echo $$; exec sleep 1000"));
  const pid_t pid = std::stoi(client.WaitForOutput("p", "\n"));
  ASSERT_EQ(::kill(pid, 0), 0);
  executor.Kill();
  EXPECT_TRUE(support::Eventually([&] { return ::kill(pid, 0) != 0; }));
}

}  // namespace
}  // namespace holdfast::remote
