// Tests of how `holdfast run` ends: by a time limit, by signals, and with the server.
#include <sys/wait.h>

#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/eventually.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kDeaf[] = "trap \"\" INT TERM; echo ready; while :; do sleep 0.05; done";

using RunEndTest = ServedCommandFixture;

// A process in the background holds the output of a command that has exited.
TEST_F(RunEndTest, ASignalEndsARunWhoseCommandHasExitedAlthoughItsOutputIsHeld) {
  for (const int signal : {SIGINT, SIGTERM}) {
    support::Program program(Bash("exec holdfast run --name held sh -c 'sleep 1000 & echo ready; exit 4'"));
    program.AwaitOutput("ready\n");
    EXPECT_EQ(Run("holdfast wait held").status, 4);
    program.Signal(signal);
    EXPECT_EQ(program.Finish().status, 4);
    EXPECT_EQ(Output("holdfast ps -q"), "");
  }
}

TEST_F(RunEndTest, ARunEndsWithACommandThatASignalHasEndedAlthoughItsOutputIsHeld) {
  support::Program program(
      Bash("exec holdfast run sh -c '(trap \"\" TERM; exec sleep 1000) & trap \"exit 5\" TERM; echo ready; "
           "while :; do sleep 0.05; done'"));
  program.AwaitOutput("ready\n");
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Finish().status, 5);
}

TEST_F(RunEndTest, ATimeLimitEndsARunWhoseCommandHasExitedAlthoughItsOutputIsHeld) {
  const support::Outcome outcome = Run("holdfast run --timeout 1s sh -c 'trap \"\" TERM; sleep 1000 & exit 3'");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(RunEndTest, OutputAfterTheExitIsShownWhileNobodyAsksForTheEnd) {
  EXPECT_EQ(Output("holdfast run sh -c '(sleep 1.5; echo late) & echo early'"), "early\nlate\n");
}

TEST_F(RunEndTest, ASecondSignalEndsARunWhoseCommandDoesNotEnd) {
  support::Program program(Bash(std::string("exec holdfast run sh -c '") + kDeaf + "'"));
  program.AwaitOutput("ready\n");
  program.Signal(SIGINT);
  program.Signal(SIGTERM);
  const support::Outcome outcome = program.Finish();
  EXPECT_THAT(outcome.err, HasSubstr("holdfast run: the command has not ended\n"));
  EXPECT_THAT(outcome.status, testing::AnyOf(128 + SIGINT, 128 + SIGTERM));
  EXPECT_EQ(Output("holdfast ps -q"), "");
}

TEST_F(RunEndTest, ASecondSignalLeavesAnAttachedRunAsItIs) {
  Output(std::string("holdfast run -d --name deaf sh -c '") + kDeaf + "'");
  support::Program program(Bash("exec holdfast attach deaf"));
  program.AwaitOutput("ready\n");
  program.Signal(SIGINT);
  program.Signal(SIGTERM);
  EXPECT_THAT(program.Finish().status, testing::AnyOf(128 + SIGINT, 128 + SIGTERM));
  EXPECT_THAT(Output("holdfast ps"), HasSubstr("deaf  running"));
}

TEST_F(RunEndTest, FurtherSignalsLeaveAtOnceAlsoWhenTheServerDoesNotAnswer) {
  support::Program program(Bash(std::string("exec holdfast run sh -c '") + kDeaf + "'"));
  program.AwaitOutput("ready\n");
  server().Signal(SIGSTOP);
  const auto has_ended = [&] {
    program.Signal(SIGTERM);
    siginfo_t end{};
    return ::waitid(P_PID, static_cast<id_t>(program.pid()), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
  };
  EXPECT_TRUE(support::Eventually(has_ended));
  server().Signal(SIGCONT);
  EXPECT_EQ(program.Finish().status, 128 + SIGTERM);
}

TEST_F(RunEndTest, TheServerEndsADetachedRunAtItsTimeLimit) {
  Output("holdfast run -d --name short --timeout 300ms sleep 1000");
  EXPECT_THAT(Refusal("holdfast wait short", 124), HasSubstr("short was ended at its time limit"));
  EXPECT_THAT(Output("holdfast ps"), HasSubstr("ended at its time limit"));
  EXPECT_THAT(Output("holdfast inspect short"), HasSubstr("ended at its time limit"));
  EXPECT_THAT(Refusal("holdfast attach short < /dev/null", 124), HasSubstr("the time limit is reached"));
}

TEST_F(RunEndTest, ATimeLimitOfZeroIsNone) {
  EXPECT_EQ(Output("holdfast run --timeout 0 sh -c 'sleep 0.1; echo done'"), "done\n");
  Output("holdfast run -d --name free --timeout 0s sh -c 'sleep 0.1; exit 6'");
  EXPECT_EQ(Run("holdfast wait free").status, 6);
}

TEST_F(RunEndTest, SaysThatTheServerWasStopped) {
  support::Program program(Bash("exec holdfast run sh -c 'echo ready; exec sleep 1000'"));
  program.AwaitOutput("ready\n");
  server().Stop();
  const support::Outcome outcome = program.Finish();
  EXPECT_EQ(outcome.err, "holdfast run: the server was stopped, and has ended the command\n");
  EXPECT_EQ(outcome.status, 128 + SIGTERM);
}

TEST_F(RunEndTest, SaysThatTheRunWasRemoved) {
  support::Program program(Bash("exec holdfast run --name web sh -c 'echo ready; exec sleep 1000'"));
  program.AwaitOutput("ready\n");
  Output("holdfast kill --end web");
  EXPECT_THAT(program.Finish().err, HasSubstr("holdfast run: the run was removed, and the command was ended\n"));
}

// The command would wait for keys that nobody can press.
TEST_F(RunEndTest, RefusesATerminalForACommandWithoutOneOfTheUser) {
  EXPECT_THAT(Refusal("holdfast run -t cat < /dev/null", 2), HasSubstr("-t needs a terminal as standard input"));
  EXPECT_THAT(Refusal("echo in | holdfast run -t cat", 2), HasSubstr("-t needs a terminal as standard input"));
  EXPECT_EQ(Output("holdfast run -d -t --name tty tty < /dev/null"), "tty\n");
  EXPECT_EQ(Output("holdfast run -d --name pipes true < /dev/null"), "pipes\n");
}

TEST_F(RunEndTest, WrongUseHasAStatusOfItsOwn) {
  EXPECT_THAT(Refusal("holdfast run", 2), HasSubstr("no command to run"));
  EXPECT_THAT(Refusal("holdfast run --server ws://127.0.0.1:1 --read-only --explain", 2), HasSubstr("--explain"));
}

}  // namespace
}  // namespace holdfast::cli
