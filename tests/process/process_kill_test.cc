// These tests check that no process of a command is left, however the command tries to get away.
#include <csignal>
#include <filesystem>

#include "process/process.h"
#include "process/process_fixture.h"
#include "support/eventually.h"
#include "support/scratch_dir.h"
#include "support/scripts.h"

namespace holdfast::process {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ProcessKillTest : public ProcessFixture {
 protected:
  // Starts the script, waits until it has `living` processes, not counting its keeper, and kills it.
  Subject& KillAfter(const std::string& script, size_t living, const Io& io = Pipes{}) {
    Subject& subject = Launch(Shell(script), io);
    EXPECT_TRUE(RunUntil([&] { return subject->pid().has_value(); }));
    EXPECT_TRUE(RunUntilMarked(living));
    subject->Kill(CountDone());
    EXPECT_TRUE(RunUntil([&] { return done_ > 0 && subject.over(); }));
    return subject;
  }
};

TEST_F(ProcessKillTest, LeavesNothingOfAPlainCommand) {
  Subject& subject = KillAfter("sleep 1000", 1);
  EXPECT_EQ(subject->exit_code(), 137);
  EXPECT_TRUE(support::ChildrenOf(::getpid()).empty());
  EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
}

TEST_F(ProcessKillTest, LeavesNothingOfATerminalCommand) {
  EXPECT_EQ(KillAfter("sleep 1000", 1, Terminal{})->exit_code(), 137);
}

TEST_F(ProcessKillTest, FindsAChildInItsOwnSession) {
  KillAfter("setsid sleep 1000 & sleep 1000", 2);
  EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
}

TEST_F(ProcessKillTest, FindsADaemonThatForkedTwice) {
  KillAfter("(setsid sh -c 'sleep 1000 & sleep 1000 & exit' >/dev/null 2>&1 &); sleep 1000", 3);
  EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
}

TEST_F(ProcessKillTest, FindsWhatAFinishedCommandLeftBehind) {
  Subject& subject = Launch(Shell("(setsid sh -c 'setsid sleep 1000 & sleep 1000' >/dev/null 2>&1 &); exit 0"));
  ASSERT_TRUE(RunUntil([&] { return subject->closed() && support::LivingWithVariable(Mark()).size() >= 2; }));
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ > 0; }));
  EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
  EXPECT_EQ(subject->exit_code(), 0);
}

TEST_F(ProcessKillTest, KillsPastAStoppedChild) {
  KillAfter("sh -c 'kill -STOP $$' & setsid sh -c 'kill -STOP $$' & sleep 1000", 3);
  EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
}

TEST_F(ProcessKillTest, KillsACommandThatStoppedItsKeeper) {
  Subject& subject = LaunchAndGo("setsid sleep 1000 & kill -STOP $PPID; echo stopped; sleep 1000");
  ASSERT_TRUE(RunUntilOutput(subject, "stopped"));
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ > 0 && subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 137);
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ProcessKillTest, KillsACommandThatKeepsStoppingItsKeeper) {
  Subject& subject = LaunchAndGo("setsid sh -c 'while kill -STOP $0; do :; done' $PPID & echo started; sleep 1000");
  ASSERT_TRUE(RunUntilOutput(subject, "started"));
  const auto begin = std::chrono::steady_clock::now();
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ > 0 && subject.over(); }));
  // The keeper has a second to kill everything, then it is killed itself.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ProcessKillTest, KillsACommandThatStopsItsKeeperBeforeItsStartIsKnown) {
  support::ScratchDir dir;
  const std::string flag = dir.path() + "/stopped";
  Subject& subject = Launch(Shell("kill -STOP $PPID; : >" + flag + "; setsid sleep 1000 & sleep 1000"));
  ASSERT_TRUE(support::Eventually([&] { return std::filesystem::exists(flag); }));
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ > 0 && subject.over(); }));
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ProcessKillTest, HearsOfACommandThatStopsItsKeeperAtItsStart) {
  Subject& subject = Run(Shell("kill -STOP $PPID; exit 6"));
  EXPECT_EQ(subject.owner.events, (std::vector<std::string>{"started", "exited", "closed", "gone"}));
  EXPECT_EQ(subject->exit_code(), 6);
}

TEST_F(ProcessKillTest, HearsOfTheExitOfACommandThatStoppedItsKeeper) {
  Subject& subject = LaunchAndGo("kill -STOP $PPID; exit 6");
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 6);
}

TEST_F(ProcessKillTest, WakesAKeeperAsOftenAsItIsStopped) {
  Subject& first = LaunchAndGo("kill -STOP $PPID; exit 1");
  ASSERT_TRUE(RunUntil([&] { return first.over(); }));
  Subject& bystander = Launch(Shell("read line"), kOpenStdin);
  Subject& second = LaunchAndGo("kill -STOP $PPID; exit 2");
  ASSERT_TRUE(RunUntil([&] { return second.over(); }));
  EXPECT_EQ(second->exit_code(), 2);
  EXPECT_FALSE(bystander->exit_code());
}

TEST_F(ProcessKillTest, SignalsACommandThatStoppedItsKeeper) {
  Subject& subject = LaunchAndGo("trap 'exit 9' INT; kill -STOP $PPID; echo stopped; while :; do :; done");
  ASSERT_TRUE(RunUntilOutput(subject, "stopped"));
  subject->Signal(SIGINT);
  ASSERT_TRUE(RunUntil([&] { return subject->exit_code().has_value(); }));
  EXPECT_EQ(subject->exit_code(), 9);
}

TEST_F(ProcessKillTest, EndsACommandThatKillsItsKeeper) {
  Subject& subject =
      LaunchAndGo("setsid sleep 1000 & (setsid sh -c 'sleep 1000 & sleep 1000' &); kill -9 $PPID; sleep 1000");
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 137);
  EXPECT_TRUE(NothingIsLeft());
  EXPECT_EQ(spawner_->orphans(), 0u);
}

TEST_F(ProcessKillTest, IsDoneOnlyWhenAChainWithoutAKeeperIsGone) {
  Subject& subject = LaunchAndGo(support::ChainOfSessions(20) + "sleep 1000");
  ASSERT_TRUE(RunUntilMarked(40));
  const auto keepers = support::ChildrenOf(::getpid());
  ASSERT_EQ(keepers.size(), 1u);
  ::kill(keepers[0], SIGKILL);
  subject->Kill([&] {
    ++done_;
    EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
  });
  ASSERT_TRUE(RunUntil([&] { return done_ > 0 && subject.over(); }));
  EXPECT_EQ(spawner_->orphans(), 0u);
}

TEST_F(ProcessKillTest, IsGoneOnlyWhenAChainThatLostItsKeeperIsGone) {
  Subject& subject = LaunchAndGo(support::ChainOfSessions(20) + "kill -9 $PPID; sleep 1000");
  ASSERT_TRUE(RunUntil([&] { return subject->gone(); }));
  EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
}

TEST_F(ProcessKillTest, SparesOtherCommandsWhenAKeeperIsLost) {
  Subject& bystander = Launch(Shell("echo ready; read line; echo \"$line\""), kOpenStdin);
  ASSERT_TRUE(RunUntilOutput(bystander, "ready"));
  Subject& subject = LaunchAndGo("kill -9 $PPID; sleep 1000");
  ASSERT_TRUE(RunUntil([&] { return subject.over() && spawner_->orphans() == 0; }));
  bystander->input()->Write(0, "still here\n", [](auto) {});
  ASSERT_TRUE(RunUntil([&] { return bystander.over(); }));
  EXPECT_EQ(bystander->exit_code(), 0);
  EXPECT_THAT(bystander.owner.out(), HasSubstr("still here"));
}

// Each generation starts the next in a new session and exits.
std::string Runner() { return R"(setsid sh -c "$STEP" >/dev/null 2>&1 & exit 0)"; }

TEST_F(ProcessKillTest, CatchesARunnerThatForksAndExits) {
  Command command = Shell(Runner());
  command.env.emplace_back("STEP", Runner());
  Subject& subject = Launch(command);
  ASSERT_TRUE(RunUntil([&] { return subject->closed(); }));
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ > 0; }));
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ProcessKillTest, CatchesARunnerWhoseKeeperIsLost) {
  Command command = Shell("kill -9 $PPID; " + Runner());
  command.env.emplace_back("STEP", Runner());
  Subject& subject = Launch(command);
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ProcessKillTest, CatchesAShellThatSpawnsInALoop) {
  Subject& subject = Launch(Shell("i=0; while [ $i -lt 200 ]; do setsid sleep 1000 & i=$((i+1)); done; sleep 1000"));
  ASSERT_TRUE(RunUntil([&] { return subject->pid().has_value(); }));
  ASSERT_TRUE(RunUntilMarked(20));
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ > 0; }));
  EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
}

TEST_F(ProcessKillTest, AnswersBeforeItTellsTheExit) {
  Subject& subject = Launch(Shell("echo ready; sleep 1000"));
  ASSERT_TRUE(RunUntilOutput(subject, "ready"));
  std::vector<std::string> at_done;
  subject->Kill([&] { at_done = subject.owner.events; });
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(at_done, (std::vector<std::string>{"started", "output"}));
  EXPECT_EQ(subject.owner.events, (std::vector<std::string>{"started", "output", "exited", "closed", "gone"}));
}

TEST_F(ProcessKillTest, AnswersEveryoneWhoKills) {
  Subject& subject = Launch(Shell("echo ready; sleep 1000"));
  ASSERT_TRUE(RunUntilOutput(subject, "ready"));
  subject->Kill(CountDone());
  subject->Kill(CountDone());
  subject->Terminate(60s, CountDone());
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(done_, 3);
}

class ProcessTerminateTest : public ProcessKillTest {
 protected:
  // Returns the exit code of a command that prints "ready" and is then terminated.
  int TerminateWhenReady(const std::string& script, std::chrono::milliseconds grace) {
    Subject& subject = Launch(Shell(script));
    EXPECT_TRUE(RunUntilOutput(subject, "ready"));
    subject->Terminate(grace, CountDone());
    EXPECT_TRUE(RunUntil([&] { return done_ > 0 && subject.over(); }));
    EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
    return subject->exit_code().value_or(-1);
  }
};

TEST_F(ProcessTerminateTest, LetsACommandFinishByItself) {
  EXPECT_EQ(TerminateWhenReady("trap 'exit 3' TERM; echo ready; while :; do :; done", 60s), 3);
}

// The shell starts `sleep` before it is asked to end: dash blocks all signals while it starts a program in the
// foreground, and a signal of that moment reaches the shell alone.
TEST_F(ProcessTerminateTest, EndsACommandThatDoesNothingAboutIt) {
  EXPECT_EQ(TerminateWhenReady("sleep 1000 & echo ready; wait", 60s), 143);
}

TEST_F(ProcessTerminateTest, KillsACommandThatIgnoresIt) {
  EXPECT_EQ(TerminateWhenReady("trap '' TERM; echo ready; sleep 1000", 500ms), 137);
}

TEST_F(ProcessTerminateTest, KillsWhatTheCommandLeavesBehind) {
  EXPECT_EQ(TerminateWhenReady("setsid sleep 1000 & trap 'exit 4' TERM; echo ready; while :; do :; done", 4s), 4);
}

TEST_F(ProcessTerminateTest, KillsAtTheEarlierDeadline) {
  for (const auto& [first, second] : {std::pair<std::chrono::milliseconds, std::chrono::milliseconds>(600s, 50ms),
                                      std::pair<std::chrono::milliseconds, std::chrono::milliseconds>(50ms, 600s)}) {
    done_ = 0;
    Subject& subject = Launch(Shell("trap '' TERM; echo ready; sleep 1000"));
    ASSERT_TRUE(RunUntilOutput(subject, "ready"));
    subject->Terminate(first, CountDone());
    subject->Terminate(second, CountDone());
    ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
    EXPECT_EQ(done_, 2);
  }
}

TEST_F(ProcessTerminateTest, AsksWhatAFinishedCommandLeftBehind) {
  support::ScratchDir dir;
  const std::string ready = dir.path() + "/ready", asked = dir.path() + "/asked";
  Subject& subject = Launch(Shell("setsid sh -c 'trap \": >" + asked + "; exit\" TERM; : >" + ready +
                                  "; while :; do sleep 0.01; done' >/dev/null 2>&1 & exit 0"));
  ASSERT_TRUE(RunUntil([&] { return subject->closed() && std::filesystem::exists(ready); }));
  subject->Terminate(60s, CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ > 0; }));
  EXPECT_TRUE(std::filesystem::exists(asked));
}

TEST_F(ProcessTerminateTest, CanBecomeAKill) {
  Subject& subject = Launch(Shell("trap '' TERM; echo ready; sleep 1000"));
  ASSERT_TRUE(RunUntilOutput(subject, "ready"));
  subject->Terminate(600s, CountDone());
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(done_, 2);
}

TEST_F(ProcessTerminateTest, KillsAfterTheGraceAlsoWhenTheStartWasUnderWay) {
  support::ScratchDir dir;
  const std::string flag = dir.path() + "/deaf";
  Subject& subject = Launch(Shell("trap '' TERM; : >" + flag + "; sleep 1000"));
  // The loop does not run, so the test's process has not learned of the start.
  ASSERT_TRUE(support::Eventually([&] { return std::filesystem::exists(flag); }));
  subject->Terminate(100ms, CountDone());
  ASSERT_TRUE(RunUntil([&] { return done_ == 1 && subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 137);
}

}  // namespace
}  // namespace holdfast::process
