// Tests of how the server ends, and that no process which it started outlives it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/scripts.h"
#include "support/server_process.h"
#include "support/web_socket_client.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

// These processes are descendants that no signal to the process group reaches.
const std::string kEscaped = "setsid sleep 1000 & (setsid sh -c '(sleep 1000 &)' &); ";
const std::string kStubborn = "trap '' TERM HUP INT; " + kEscaped + "echo ready; sleep 1000";

void ExpectNothingAlive() {
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).empty(); }));
}

TEST(ShutdownTest, AsksProcessesThenKillsThemAndTellsTheClient) {
  ServerProcess server = ServerProcess::Start({"--shutdown-grace-period-ms", "4000"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(
      Shell("polite", "exec 2>/dev/null; trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done"));
  client.Start(Shell("stubborn", kStubborn));
  client.WaitForOutput("polite", "ready");
  client.WaitForOutput("stubborn", "ready");
  server.Signal(SIGTERM);
  EXPECT_EQ(client.WaitForExit("polite"), 4);
  EXPECT_EQ(client.WaitForClosed("polite"), "ready\nbye\n");
  EXPECT_EQ(client.WaitForExit("stubborn"), 137);
  client.WaitForClosed("stubborn");
  EXPECT_TRUE(client.WaitForEnd());
  client.Disconnect();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
}

TEST(ShutdownTest, TellsTheClientThatItGoesAway) {
  ServerProcess server = ServerProcess::Start();
  auto client = WebSocketClient::Connect(server.url());
  server.Signal(SIGTERM);
  EXPECT_EQ(client.ReceiveCloseCode(), 1001);
  client.socket().Close();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

TEST(ShutdownTest, EndsOnAnInterruptToo) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  server.Signal(SIGINT);
  EXPECT_TRUE(client.WaitForEnd());
  client.Disconnect();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

TEST(ShutdownTest, EndsDetachedSessionsToo) {
  ServerProcess server = ServerProcess::Start({"--shutdown-grace-period-ms", "100"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("stubborn", kStubborn));
  client.WaitForOutput("stubborn", "ready");
  client.Disconnect();
  server.Stop();
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
}

TEST(ShutdownTest, StartsNothingAnyMore) {
  ServerProcess server = ServerProcess::Start({"--shutdown-grace-period-ms", "60000"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", "exec 2>/dev/null; trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done"));
  client.WaitForOutput("p", "ready");
  server.Signal(SIGTERM);
  client.WaitForOutput("p", "asked");
  EXPECT_EQ(client.Call("process/start", Shell("late", "true").Params()).error_code(), -32600);
  client.Call("process/terminate", IdParams("p", R"("mode":"force")"));
  EXPECT_TRUE(client.WaitForEnd());
  client.Disconnect();
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

TEST(ShutdownTest, ASecondSignalEndsTheServerAtOnce) {
  ServerProcess server = ServerProcess::Start({"--shutdown-grace-period-ms", "600000"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(
      Shell("p", "exec 2>/dev/null; trap 'echo asked' TERM; " + kEscaped + "echo ready; while :; do sleep 0.01; done"));
  client.WaitForOutput("p", "ready");
  server.Signal(SIGTERM);
  client.WaitForOutput("p", "asked");
  server.Signal(SIGTERM);
  EXPECT_EQ(server.WaitForExit(), 128 + SIGTERM);
  ExpectNothingAlive();
}

TEST(ShutdownTest, AKilledServerLeavesNoProcessBehind) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("pipe", kStubborn));
  client.Start(Terminal("terminal", kStubborn));
  client.Start(Shell("stopped", "read go; kill -STOP $PPID; echo ready; sleep 1000", Stdin::kPipe));
  client.Write("stopped", "\n");
  client.Start(Shell("background", kEscaped + "exit 0"));
  client.WaitForOutput("pipe", "ready");
  client.WaitForOutput("terminal", "ready");
  client.WaitForOutput("stopped", "ready");
  client.WaitForExit("background");
  EXPECT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).size() >= 8; }));
  server.Kill();
  ExpectNothingAlive();
}

TEST(ShutdownTest, LeavesNothingOfAChainOfSessionsWhoseKeeperIsKilled) {
  ServerProcess server = ServerProcess::Start({"--shutdown-grace-period-ms", "200"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", ChainOfSessions(10) + "trap 'kill -9 $PPID' TERM; echo ready; while :; do sleep 0.01; done"));
  client.Start(Shell("q", ChainOfSessions(10) + "read go; kill -9 $PPID; sleep 1000", Stdin::kPipe));
  client.WaitForOutput("p", "ready");
  ASSERT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).size() >= 40; }));
  client.Send("process/write", WriteParams("q", "go\n"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
}

TEST(ShutdownTest, AClientThatDoesNotReadHoldsItUpForAMomentOnly) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  client.Start({.id = "yes", .argv = {"yes"}});
  TestSocket guest = TestSocket::Connect(server.url());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

TEST(ShutdownTest, RemovesItsUnixSocket) {
  TempDir dir;
  ServerProcess server = ServerProcess::Start({"--listen", "unix://" + dir.Path("socket")});
  EXPECT_EQ(::access(dir.Path("socket").c_str(), F_OK), 0);
  server.Stop();
  EXPECT_NE(::access(dir.Path("socket").c_str(), F_OK), 0);
}

TEST(ShutdownTest, ReplacesTheSocketOfAKilledServer) {
  TempDir dir;
  const std::string url = "unix://" + dir.Path("socket");
  ServerProcess first = ServerProcess::Start({"--listen", url});
  first.Kill();
  ServerProcess second = ServerProcess::Start({"--listen", url});
  EXPECT_TRUE(RpcClient::Ready(url).Call("process/list").Has("result"));
}

TEST(ShutdownTest, TellsAClientOnStdioAndEndsItsStream) {
  ServerProcess server = ServerProcess::StartOnStdio();
  RpcClient client(OpenPipes(server.input(), server.output()));
  client.Handshake();
  client.Start(Shell("p", "exec 2>/dev/null; trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done"));
  client.WaitForOutput("p", "ready");
  server.Signal(SIGTERM);
  EXPECT_EQ(client.WaitForExit("p"), 4);
  client.WaitForClosed("p");
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(server.WaitForExit(), 0) << server.Stderr();
}

}  // namespace
}  // namespace holdfast::support
