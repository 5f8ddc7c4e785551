// Tests of the end that the server puts to a process: by a time limit, with its session, or when the server stops.
#include <csignal>
#include <string>

#include "exec_server/server_fixture.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ProcessEndTest : public ServerFixture {
 protected:
  static std::string Limited(int wall_ms) { return fmt::format(R"(,"limits":{{"wallMs":{}}})", wall_ms); }

  Client& WithProcess(std::string_view script, std::string_view more = "") {
    Client& client = ConnectReady();
    EXPECT_EQ(Start(client, "p", script, more).error_code(), 0);
    return client;
  }

  bool RunUntilClosed(Client& client) {
    return RunUntil([&] { return client.Got("process/closed"); });
  }

  bool RunUntilItWrites(Client& client) {
    return RunUntil([&] { return client.Got("process/output"); });
  }

  static Message Exit(const Client& client) { return client.Notifications("process/exited").at(0); }

  // Returns the pid that the script has printed.
  static pid_t Printed(const Client& client) {
    return std::stoi(client.Notifications("process/output").at(0).Bytes("params.chunk"));
  }
};

TEST_F(ProcessEndTest, ATimeLimitEndsTheCommandAndItsDescendants) {
  Client& client = WithProcess("setsid sleep 1000 & echo $!; exec sleep 1000", Limited(300));
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Exit(client).Number("params.exitCode"), 128 + SIGTERM);
  EXPECT_EQ(Exit(client).Text("params.end.cause"), "wall");
  const pid_t descendant = Printed(client);
  EXPECT_TRUE(RunUntil([&] { return ::kill(descendant, 0) != 0; }));
}

TEST_F(ProcessEndTest, WhatDoesNotEndAtTheTimeLimitIsKilledAfterTheGrace) {
  config_.shutdown_grace_period_ms = 50;
  Client& client = WithProcess("trap '' TERM; while :; do sleep 1000; done", Limited(50));
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Exit(client).Number("params.exitCode"), 128 + SIGKILL);
  EXPECT_EQ(Exit(client).Text("params.end.cause"), "wall");
}

TEST_F(ProcessEndTest, ATimeLimitHoldsWithoutAConnection) {
  Client& client = WithProcess("echo $$; exec sleep 1000", Limited(300));
  ASSERT_TRUE(RunUntilItWrites(client));
  const pid_t command = Printed(client);
  client.transport->Disconnect();
  EXPECT_TRUE(RunUntil([&] { return ::kill(command, 0) != 0; }));
}

TEST_F(ProcessEndTest, TheCauseIsToldByEverythingThatTellsTheExit) {
  Client& client = WithProcess("exec sleep 1000", Limited(50));
  EXPECT_EQ(Call(client, "process/wait", Named("p")).Text("result.end.cause"), "wall");
  EXPECT_EQ(Call(client, "process/read", Named("p")).Text("result.end.cause"), "wall");
  EXPECT_EQ(Call(client, "process/list", "{}").Text("result.processes.0.end.cause"), "wall");
}

TEST_F(ProcessEndTest, ACommandThatEndsInTimeHasNoCause) {
  Client& client = WithProcess("exit 3", Limited(600'000));
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Exit(client).Number("params.exitCode"), 3);
  EXPECT_FALSE(Exit(client).Has("params.end"));
  EXPECT_FALSE(Call(client, "process/read", Named("p")).Has("result.end"));
}

// The command has kept the limit. What it has left behind is ended all the same.
TEST_F(ProcessEndTest, ATimeLimitEndsWhatACommandHasLeftBehind) {
  Client& client = WithProcess("setsid sleep 1000 > /dev/null 2>&1 & echo $!; exit 3", Limited(300));
  ASSERT_TRUE(RunUntilClosed(client));
  const pid_t descendant = Printed(client);
  EXPECT_TRUE(RunUntil([&] { return ::kill(descendant, 0) != 0; }));
  EXPECT_EQ(Exit(client).Number("params.exitCode"), 3);
  EXPECT_FALSE(Call(client, "process/list", "{}").Has("result.processes.0.end"));
}

TEST_F(ProcessEndTest, ALimitThatCannotBeEnforcedIsRefused) {
  Client& client = ConnectReady();
  const auto refusal = [&](std::string_view limits) {
    const Message answer = Start(client, "p", "exit 0", fmt::format(R"(,"limits":{})", limits));
    EXPECT_EQ(answer.error_code(), -32602) << limits;
    return answer.Text("error.message");
  };
  EXPECT_THAT(refusal(R"({"wallMs":0})"), HasSubstr("limits.wallMs: must be at least 1"));
  EXPECT_THAT(refusal(R"({"wallMs":-1})"), HasSubstr("limits.wallMs"));
  EXPECT_THAT(refusal(R"({"wallMs":100,"moonPhases":3})"), HasSubstr("moonPhases"));
  for (const char* none : {"null", "{}", R"({"wallMs":null})", R"({"wallMs":18446744073709551615})"}) {
    Client& other = ConnectReady();
    EXPECT_EQ(Start(other, "p", "exit 0", fmt::format(R"(,"limits":{})", none)).error_code(), 0) << none;
  }
}

TEST_F(ProcessEndTest, TheLimitsAreAnnounced) {
  Client& client = ConnectReady();
  EXPECT_EQ(client.AnswerTo(0)->Text("result.environmentInfo.capabilities.limits.0"), "wallMs");
}

TEST_F(ProcessEndTest, AServerThatStopsSaysSo) {
  Client& client = WithProcess("echo up; exec sleep 1000");
  ASSERT_TRUE(RunUntilItWrites(client));
  sessions_->EndAll(1min, [] {});
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Exit(client).Number("params.exitCode"), 128 + SIGTERM);
  EXPECT_EQ(Exit(client).Text("params.end.cause"), "server-stopped");
}

TEST_F(ProcessEndTest, ASessionThatIsEndedSaysSo) {
  Client& client = WithProcess("echo up; exec sleep 1000");
  ASSERT_TRUE(RunUntilItWrites(client));
  client.Ask("session/end", "{}");
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Exit(client).Text("params.end.cause"), "session-ended");
}

TEST_F(ProcessEndTest, TheFirstCauseCounts) {
  Client& client = WithProcess("trap 'echo term' TERM; while :; do sleep 0.01; done", Limited(500));
  ASSERT_TRUE(RunUntilItWrites(client));
  sessions_->EndAll(0ms, [] {});
  ASSERT_TRUE(RunUntilClosed(client));
  EXPECT_EQ(Exit(client).Number("params.exitCode"), 128 + SIGKILL);
  EXPECT_EQ(Exit(client).Text("params.end.cause"), "wall");
}

}  // namespace
}  // namespace holdfast::exec_server
