// Tests of how processes end: by themselves, by a signal, by process/terminate; and of what is left of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "support/eventually.h"
#include "support/proc.h"
#include "support/rpc_client.h"
#include "support/scripts.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

// The script prints the pid of a sleep, which takes the place of the shell that printed it.
const std::string kSleeper = "sh -c 'echo $$; exec sleep 1000'";

std::vector<pid_t> Pids(const std::string& output) {
  std::istringstream lines(output);
  return {std::istream_iterator<pid_t>(lines), {}};
}

class ProcessEndTest : public testing::Test {
 protected:
  // Returns the pids that the process has written, one per line, as soon as there are `count` of them.
  std::vector<pid_t> WaitForPids(std::string_view id, size_t count) {
    std::string text = client_.Output(id);
    while (std::ranges::count(text, '\n') < static_cast<ptrdiff_t>(count) && client_.Pump(kPatience)) {
      text = client_.Output(id);
    }
    EXPECT_EQ(Pids(text).size(), count) << text;
    return Pids(text);
  }
  Message Terminate(std::string_view id, std::string_view more = "") {
    return client_.Call("process/terminate", IdParams(id, more));
  }
  int64_t SignalError(std::string_view id, std::string_view name) {
    return client_.Call("process/signal", IdParams(id, R"("signal":)" + Quoted(name))).error_code();
  }

  ServerProcess server_ = ServerProcess::Start();
  RpcClient client_ = RpcClient::Ready(server_.url());
};

constexpr const char* kForce = R"("mode":"force")";

std::string Graceful(int timeout_ms) {
  return R"("mode":{"graceful":{"timeoutMs":)" + std::to_string(timeout_ms) + "}}";
}

TEST_F(ProcessEndTest, ReportsExitCodes) {
  for (const int code : {0, 1, 42, 255}) {
    const std::string id = "p" + std::to_string(code);
    client_.Start(Shell(id, "exit " + std::to_string(code)));
    EXPECT_EQ(client_.WaitForExit(id), code);
  }
}

TEST_F(ProcessEndTest, ReportsADeathBySignalAs128AndItsNumber) {
  for (const bool tty : {false, true}) {
    StartRequest request = Shell(tty ? "t" : "p", "kill -SEGV $$");
    request.tty = tty;
    client_.Start(request);
    EXPECT_EQ(client_.WaitForExit(request.id), 139);
  }
}

TEST_F(ProcessEndTest, SendsSignalsByName) {
  client_.Start(Shell("p",
                      "exec 2>/dev/null; trap 'echo usr1' USR1; trap 'echo hup' HUP; trap 'echo int; exit 9' INT; "
                      "echo ready; while :; do sleep 0.01; done"));
  client_.WaitForOutput("p", "ready\n");
  EXPECT_EQ(SignalError("p", "SIGUSR1"), 0);
  client_.WaitForOutput("p", "usr1\n");
  EXPECT_EQ(SignalError("p", "SIGHUP"), 0);
  client_.WaitForOutput("p", "hup\n");
  EXPECT_EQ(SignalError("p", "interrupt"), 0);
  EXPECT_EQ(client_.WaitForExit("p"), 9);
}

TEST_F(ProcessEndTest, SignalsTheWholeGroup) {
  client_.Start(Shell("p", "trap 'wait; echo end' TERM; " + kSleeper + " & " + kSleeper + " & wait; wait"));
  const auto pids = WaitForPids("p", 2);
  EXPECT_EQ(SignalError("p", "SIGTERM"), 0);
  client_.WaitForOutput("p", "end");
  for (const pid_t pid : pids) EXPECT_FALSE(IsAlive(pid));
}

TEST_F(ProcessEndTest, SendsSignalsToATerminal) {
  client_.Start(Terminal("t", "trap 'echo caught; exit 8' INT; echo ready; while :; do sleep 0.01; done"));
  client_.WaitForOutput("t", "ready");
  EXPECT_EQ(SignalError("t", "interrupt"), 0);
  EXPECT_EQ(client_.WaitForExit("t"), 8);
}

TEST_F(ProcessEndTest, RefusesASignalThatNobodyKnows) {
  client_.Start(Shell("p", "sleep 1000"));
  for (const char* name : {"kill", "SIGNONE", "", "9", "sigterm"}) EXPECT_EQ(SignalError("p", name), -32602) << name;
  EXPECT_EQ(SignalError("unknown", "interrupt"), 0) << "what cannot run cannot be interrupted";
}

TEST_F(ProcessEndTest, TerminatesWithoutAskingTheProcess) {
  client_.Start(Shell("p", "trap 'echo trapped' TERM HUP INT; echo ready; while :; do sleep 0.01; done"));
  client_.WaitForOutput("p", "ready\n");
  const Message answer = Terminate("p");
  EXPECT_TRUE(answer.Flag("result.running"));
  EXPECT_FALSE(client_.HasNotification("process/exited", "p")) << "the answer comes first";
  EXPECT_EQ(client_.WaitForClosed("p"), "ready\n");
  EXPECT_EQ(client_.WaitForExit("p"), 137);
  EXPECT_FALSE(Terminate("p").Flag("result.running"));
}

TEST_F(ProcessEndTest, LeavesNoDescendantAliveWhenTheAnswerComes) {
  // The members are a process in the group, one in a session of its own, and one that a double fork has orphaned.
  const std::string family = kSleeper + " & setsid " + kSleeper + " & (setsid sh -c '(" +
                             "sh -c '\\''echo $$; exec sleep 1000'\\'' &)' &) ; wait; sleep 1000";
  for (const std::string& mode : {std::string(), std::string(kForce), Graceful(50)}) {
    const std::string id = "p" + mode;
    client_.Start(Shell(id, "trap '' TERM; " + family));
    const auto pids = WaitForPids(id, 3);
    for (const pid_t pid : pids) EXPECT_TRUE(IsAlive(pid));
    EXPECT_TRUE(Terminate(id, mode).Flag("result.running"));
    for (const pid_t pid : pids) EXPECT_FALSE(IsAlive(pid)) << mode;
    EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty()) << mode;
    client_.WaitForClosed(id);
  }
}

TEST_F(ProcessEndTest, KillsAProcessThatForksAllTheTime) {
  client_.Start(Shell("p", "echo ready; while :; do setsid sleep 0.05 & sleep 0.01; done"));
  client_.WaitForOutput("p", "ready");
  EXPECT_TRUE(Terminate("p", kForce).Flag("result.running"));
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
}

TEST_F(ProcessEndTest, KillsAStoppedProcess) {
  client_.Start(Shell("p", "echo $$; kill -STOP $$"));
  const auto pids = WaitForPids("p", 1);
  ASSERT_TRUE(Eventually([&] { return ReadProcFile(pids.at(0), "stat").value_or("").contains(") T "); }));
  EXPECT_TRUE(Terminate("p", Graceful(50)).Flag("result.running"));
  EXPECT_EQ(client_.WaitForExit("p"), 137);
}

TEST_F(ProcessEndTest, GivesTimeToEndGracefully) {
  client_.Start(Shell(
      "p", "exec 2>/dev/null; trap 'sleep 0.1; echo bye; exit 6' TERM; echo ready; while :; do sleep 0.01; done"));
  client_.WaitForOutput("p", "ready\n");
  EXPECT_TRUE(Terminate("p", Graceful(60'000)).Flag("result.running"));
  EXPECT_EQ(client_.WaitForExit("p"), 6);
  EXPECT_EQ(client_.WaitForClosed("p"), "ready\nbye\n");
}

TEST_F(ProcessEndTest, KillsWhoeverDoesNotEndInTime) {
  client_.Start(Shell("p", "trap '' TERM; echo ready; sleep 1000"));
  client_.WaitForOutput("p", "ready\n");
  EXPECT_TRUE(Terminate("p", Graceful(100)).Flag("result.running"));
  EXPECT_EQ(client_.WaitForExit("p"), 137);
}

TEST_F(ProcessEndTest, ForceOvertakesGrace) {
  client_.Start(Shell("p", "trap '' TERM; echo ready; sleep 1000"));
  client_.WaitForOutput("p", "ready\n");
  const int64_t graceful = client_.Send("process/terminate", IdParams("p", Graceful(600'000)));
  EXPECT_TRUE(Terminate("p", kForce).Flag("result.running"));
  EXPECT_TRUE(client_.Await(graceful).Flag("result.running"));
}

// Clients terminate every finished process as a matter of routine. A daemon that the command left running on purpose
// must survive that.
TEST_F(ProcessEndTest, TerminateWithoutAModeLeavesTheBackgroundOfAFinishedProcessAlone) {
  client_.Start(Shell("p", kSleeper + " & exit 0"));
  EXPECT_EQ(client_.WaitForExit("p"), 0);
  const pid_t child = WaitForPids("p", 1).at(0);
  EXPECT_FALSE(Terminate("p").Flag("result.running"));
  EXPECT_TRUE(IsAlive(child));
  EXPECT_FALSE(Terminate("p", kForce).Flag("result.running"));
  EXPECT_FALSE(IsAlive(child));
  client_.WaitForClosed("p");
}

TEST_F(ProcessEndTest, TerminateWithAModeFindsABackgroundThatHoldsNoOutput) {
  client_.Start(Shell("p", "sh -c 'echo $$; exec setsid sleep 1000 <&- >&- 2>&-' & exit 0"));
  const pid_t child = WaitForPids("p", 1).at(0);
  client_.WaitForClosed("p");
  EXPECT_TRUE(IsAlive(child));
  EXPECT_FALSE(Terminate("p", Graceful(50)).Flag("result.running"));
  EXPECT_FALSE(IsAlive(child));
}

TEST_F(ProcessEndTest, TerminatesNothingUnderAnUnknownId) {
  EXPECT_FALSE(Terminate("unknown").Flag("result.running"));
  EXPECT_FALSE(Terminate("unknown", kForce).Flag("result.running"));
  for (const char* mode : {R"("mode":"gently")", R"("mode":{})", R"("mode":{"graceful":{}})", R"("mode":7)"}) {
    EXPECT_EQ(Terminate("unknown", mode).error_code(), -32602) << mode;
  }
}

TEST_F(ProcessEndTest, TerminateRightBehindAStartLeavesNothing) {
  for (int i = 0; i < 20; ++i) {
    const std::string id = "p" + std::to_string(i);
    const int64_t start = client_.Send("process/start", Shell(id, "sleep 1000").Params());
    const int64_t terminate = client_.Send("process/terminate", IdParams(id));
    const Message started = client_.Await(start);
    EXPECT_TRUE(client_.Await(terminate).Flag("result.running"));
    if (started.error_code() == 0) client_.WaitForClosed(id);
  }
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
}

// A stopped keeper neither tells the server of an exit nor kills anything.
TEST_F(ProcessEndTest, TerminatesACommandThatStopsItsKeeper) {
  const int64_t start = client_.Send("process/start", Shell("p", "kill -STOP $PPID; sleep 1000").Params());
  EXPECT_TRUE(Terminate("p", kForce).Flag("result.running"));
  client_.Await(start);  // success or failure, depending on whether the start or the kill was quicker
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
}

TEST_F(ProcessEndTest, TerminatesACommandThatKeepsStoppingItsKeeper) {
  const std::string stop_it = "setsid sh -c 'while kill -STOP $0; do :; done' $PPID & ";
  client_.Start(
      Shell("p", "read go; " + stop_it + "echo ready; sleep 1000", Stdin::kPipe));  // not before it is started
  client_.Send("process/write", WriteParams("p", "go\n"));
  client_.WaitForOutput("p", "ready");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(Terminate("p", kForce).Flag("result.running"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
  EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
}

TEST_F(ProcessEndTest, HearsOfACommandThatStopsItsKeeperAtTheStart) {
  client_.Start(Shell("p", "kill -STOP $PPID; exit 6"));
  EXPECT_EQ(client_.WaitForExit("p"), 6);
  client_.WaitForClosed("p");
}

// A command can stop its keeper in its first instruction, before the keeper has done anything else. A stopped keeper is
// woken once a second: a start that needs it awake is answered late.
TEST_F(ProcessEndTest, AnswersTheStartOfACommandThatStopsItsKeeperAtOnce) {
  for (int i = 0; i < 30; ++i) {
    const std::string id = std::to_string(i);
    const auto begin = std::chrono::steady_clock::now();
    client_.Start({.id = id, .argv = {HOLDFAST_SANDBOXEE_DIR "/stop_parent"}});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 400ms);
    EXPECT_TRUE(Terminate(id, kForce).Flag("result.running"));
  }
}

// The keeper may be killed before or after it gets the instruction to kill everything.
TEST_F(ProcessEndTest, TerminatesAChainOfSessionsWhoseKeeperIsKilled) {
  for (int i = 0; i < 5; ++i) {
    const std::string id = std::to_string(i);
    client_.Start(Shell(id, ChainOfSessions(10) + "read go; kill -9 $PPID; sleep 1000", Stdin::kPipe));
    ASSERT_TRUE(Eventually([] { return LivingWithVariable(RunMarker()).size() >= 20; }));
    client_.Send("process/write", WriteParams(id, "go\n"));
    Terminate(id, kForce);
    EXPECT_THAT(LivingWithVariable(RunMarker()), IsEmpty());
  }
}

// A start that takes long, as on a busy machine, is cancelled before it fails. The test then tries again.
TEST_F(ProcessEndTest, TerminateBehindAStartThatFailsEndsNothing) {
  constexpr int64_t kCancelled = -32600;
  const auto has_failed = [&] {
    const int64_t start = client_.Send("process/start", StartRequest{.id = "p", .argv = {"/no/such"}}.Params());
    const int64_t terminate = client_.Send("process/terminate", IdParams("p"));
    const int64_t code = client_.Await(start).error_code();
    const bool was_running = client_.Await(terminate).Flag("result.running");
    if (code == kCancelled) return false;
    EXPECT_EQ(code, -32603);
    EXPECT_FALSE(was_running);
    return true;
  };
  EXPECT_TRUE(Eventually(has_failed));
}

TEST_F(ProcessEndTest, WaitsUntilTheExitOrTheTime) {
  client_.Start(Shell("p", "read code; exit $code", Stdin::kPipe));
  const Message timed_out = client_.Call("process/wait", IdParams("p", R"("timeoutMs":30)"));
  EXPECT_TRUE(timed_out.Flag("result.timedOut"));
  EXPECT_FALSE(timed_out.Flag("result.exited"));
  EXPECT_TRUE(timed_out.IsNull("result.exitCode"));
  const int64_t first = client_.Send("process/wait", IdParams("p"));
  const int64_t second = client_.Send("process/wait", IdParams("p", R"("timeoutMs":600000)"));
  client_.Write("p", "11\n");
  for (const int64_t id : {first, second}) {
    const Message answer = client_.Await(id);
    EXPECT_EQ(answer.Number("result.exitCode"), 11);
    EXPECT_FALSE(answer.Flag("result.timedOut"));
  }
  EXPECT_EQ(client_.Call("process/wait", IdParams("p", R"("timeoutMs":0)")).Number("result.exitCode"), 11);
  EXPECT_EQ(client_.Call("process/wait", IdParams("unknown")).error_code(), -32600);
}

TEST_F(ProcessEndTest, ListsEveryStateOfALife) {
  const auto state = [&](size_t index, const char* member) {
    return client_.Call("process/list").Text("result.processes." + std::to_string(index) + "." + member);
  };
  client_.Start(Shell("p", "read x; exec 3<&0; sh -c 'read x <&3' & exit 0", Stdin::kPipe));
  EXPECT_EQ(state(0, "processId"), "p");
  EXPECT_EQ(state(0, "state"), "running");
  client_.Write("p", "\n");
  client_.WaitForExit("p");
  EXPECT_EQ(state(0, "state"), "exited");
  client_.CloseStdin("p");
  client_.WaitForClosed("p");
  EXPECT_EQ(state(0, "state"), "closed");
}

TEST(ProcessLifecycleTest, IsAnnouncedToClientsThatAsk) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url(), R"("capabilities":{"lifecycle":true})");
  client.Start(Shell("p", "echo $$"));
  const int64_t pid = client.WaitForNotification("process/started", "p").Number("params.pid");
  EXPECT_EQ(client.WaitForClosed("p"), std::to_string(pid) + "\n");
  EXPECT_EQ(client.Call("process/start", StartRequest{.id = "q", .argv = {"/no/such"}}.Params()).error_code(), -32603);
  EXPECT_EQ(client.WaitForNotification("process/failed", "q").Text("params.message"),
            "execute /no/such: No such file or directory (os error 2)");
}

TEST(ProcessLifecycleTest, IsNotAnnouncedToOthers) {
  ServerProcess server = ServerProcess::Start();
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", "true"));
  client.Call("process/start", StartRequest{.id = "q", .argv = {"/no/such"}}.Params());
  client.WaitForClosed("p");
  client.Call("process/list");
  EXPECT_FALSE(client.HasNotification("process/started", "p"));
  EXPECT_FALSE(client.HasNotification("process/failed", "q"));
}

TEST(ProcessRetentionTest, ForgetsAFinishedProcessAfterItsTime) {
  ServerProcess server = ServerProcess::Start({"--exited-retention-ms", "100"});
  RpcClient client = RpcClient::Ready(server.url());
  client.Start(Shell("p", "echo once"));
  client.WaitForClosed("p");
  EXPECT_TRUE(Eventually([&] { return client.Call("process/read", IdParams("p")).error_code() == -32600; }));
  EXPECT_EQ(client.Call("process/list").Size("result.processes"), 0u);
  client.Start(Shell("p", "echo again"));
  EXPECT_EQ(client.WaitForClosed("p"), "once\nagain\n");
}

TEST(ProcessRetentionTest, LeavesNoDescriptorAndNoZombieBehind) {
  ServerProcess server = ServerProcess::Start({"--exited-retention-ms", "0"});
  RpcClient client = RpcClient::Ready(server.url());
  const auto cycle = [&](const std::string& id) {
    StartRequest request = Shell(id, "echo $0 | cat", Stdin::kPipe);
    request.tty = id.back() % 3 == 0;
    client.Start(request);
    client.WaitForClosed(id);
    client.Call("process/start", StartRequest{.id = id + "x", .argv = {"/no/such"}}.Params());
  };
  cycle("first");
  const auto idle = [&] {
    return client.Call("process/list").Size("result.processes") == 0 && ChildrenOf(server.pid()).empty();
  };
  ASSERT_TRUE(Eventually(idle));
  const size_t before = CountFds(server.pid());
  for (int i = 0; i < 200; ++i) cycle(std::to_string(i));
  EXPECT_TRUE(Eventually(idle));
  EXPECT_TRUE(Eventually([&] { return CountFds(server.pid()) == before; })) << CountFds(server.pid()) - before;
}

}  // namespace
}  // namespace holdfast::support
