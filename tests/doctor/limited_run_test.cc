#include "doctor/limited_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::doctor {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = RunOutcome::Kind;

RunOutcome Shell(const std::string& script, std::chrono::milliseconds limit = 10s) {
  return RunLimited({.program = "/bin/sh", .arguments = {"sh", "-c", script}, .limit = limit});
}

TEST(LimitedRunTest, GivesStatusAndBothOutputs) {
  const RunOutcome outcome = Shell("echo said; echo complained >&2; exit 7");
  EXPECT_EQ(outcome.kind, Kind::kEnded);
  EXPECT_EQ(outcome.status, 7);
  EXPECT_EQ(outcome.out, "said\n");
  EXPECT_EQ(outcome.err, "complained\n");
  EXPECT_FALSE(outcome.succeeded());
}

TEST(LimitedRunTest, TellsASignal) { EXPECT_EQ(Shell("kill -TERM $$").status, 128 + SIGTERM); }

TEST(LimitedRunTest, AProgramThatIsNotThereIsNotStarted) {
  const RunOutcome outcome = RunLimited({.program = "/no/program", .arguments = {"x"}, .limit = 1s});
  EXPECT_EQ(outcome.kind, Kind::kNotStarted);
  EXPECT_THAT(outcome.err, HasSubstr("/no/program"));
  EXPECT_FALSE(outcome.succeeded());
}

TEST(LimitedRunTest, EndsWhatTakesTooLongAndAllItStarted) {
  const auto start = std::chrono::steady_clock::now();
  const RunOutcome outcome = Shell("sleep 1000 & echo $!; wait", 3s);
  EXPECT_EQ(outcome.kind, Kind::kTimedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
  const pid_t stray = std::stoi(outcome.out);
  EXPECT_TRUE(support::Eventually([&] { return !support::IsAlive(stray); }));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(LimitedRunTest, DoesNotWaitForWhoeverKeepsTheOutputOpen) {
  const RunOutcome outcome = Shell("sleep 1000 & echo $!");
  EXPECT_EQ(outcome.kind, Kind::kEnded);
  ::kill(std::stoi(outcome.out), SIGKILL);
}

TEST(LimitedRunTest, KeepsOnlyTheBeginningOfMuchOutput) {
  const RunOutcome outcome = Shell("head -c 1000000 /dev/zero");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out.size(), 64u << 10);
}

TEST(LimitedRunTest, ReplacesVariablesAndKeepsTheOthers) {
  ::setenv("HOLDFAST_KEPT", "kept", 1);
  ::setenv("HOLDFAST_REPLACED", "old", 1);
  const RunOutcome outcome = RunLimited({.program = "/bin/sh",
                                         .arguments = {"sh", "-c", "echo $HOLDFAST_KEPT $HOLDFAST_REPLACED"},
                                         .variables = {"HOLDFAST_REPLACED=new"},
                                         .limit = 10s});
  EXPECT_EQ(outcome.out, "kept new\n");
}

}  // namespace
}  // namespace holdfast::doctor
