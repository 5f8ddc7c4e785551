#include "sandbox/jail/first_process.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandbox/jail/inner_stage_fixture.h"
#include "sandbox/jail/lifeline.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "sys/signal_name.h"

namespace holdfast::sandbox {
namespace {

class FirstProcessTest : public InnerStageFixture {
 protected:
  // Starts the script and waits until it prints "up". The inner stage closes its copy of the outer end of the lifeline,
  // as an execution would.
  std::unique_ptr<RunningStage> Start(std::string script) {
    InnerOrders orders = Script(std::move(script));
    LifelineEnds ends = *MakeLifeline();
    SendGo(ends.outer.get());
    orders.lifeline_fd = ends.inner.get();
    auto stage = std::make_unique<RunningStage>(orders, [&] { ends.outer.Reset(); });
    lifeline_ = std::move(ends.outer);
    stage->AwaitOutput("up\n");
    return stage;
  }

  bool AskFor(int signal) const { return SendSignalFor(lifeline_.get(), signal); }

  OwnedFd lifeline_;  // the end of the outer stage
};

TEST_F(FirstProcessTest, PassesSignalsOnAndTheCommandDecides) {
  for (const std::string name : {"TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"}) {
    const auto stage = Start(fmt::format("trap 'echo trapped; exit 7' {}; echo up; sleep 1000 & wait", name));
    AskFor(*sys::SignalByName("SIG" + name));
    const Outcome outcome = stage->Finish();
    EXPECT_EQ(outcome.out, "trapped\n") << name;
    EXPECT_EQ(outcome.status, 7) << name;
  }
}

// Otherwise the signal would come twice: the outer stage is in the same group, gets it too, and asks to pass it on.
TEST_F(FirstProcessTest, IgnoresASignalThatItWasNotAskedToPassOn) {
  const auto stage = Start("trap 'exit 7' TERM; trap 'exit 8' HUP; echo up; sleep 1000 & wait");
  stage->Signal(SIGTERM);
  AskFor(SIGHUP);
  EXPECT_EQ(stage->Finish().status, 8);
}

TEST_F(FirstProcessTest, PassesOnAnOrderWhileTheSameSignalWaits) {
  const auto stage = Start("trap 'exit 7' TERM; echo up; sleep 1000 & wait");
  stage->Signal(SIGSTOP);
  stage->Signal(SIGTERM);
  EXPECT_TRUE(AskFor(SIGTERM));
  stage->Signal(SIGCONT);
  EXPECT_EQ(stage->Finish().status, 7);
}

// A shell outside that is slow loses no order, and one that does not read at all is noticed.
TEST_F(FirstProcessTest, TakesOrdersUntilTheLifelineIsFull) {
  const auto stage = Start("trap 'exit 7' TERM; echo up; sleep 1000 & wait");
  stage->Signal(SIGSTOP);
  EXPECT_TRUE(AskFor(SIGTERM));
  while (AskFor(SIGWINCH)) {
  }
  stage->Signal(SIGCONT);
  EXPECT_EQ(stage->Finish().status, 7);
}

TEST_F(FirstProcessTest, ReportsTheSignalThatEndedTheCommand) {
  const auto stage = Start("echo up; sleep 1000");
  AskFor(SIGTERM);
  EXPECT_EQ(stage->Finish().status, 128 + SIGTERM);
}

// A shell runs its trap only after the program that it waits for has ended.
TEST_F(FirstProcessTest, EndsTheProgramThatTheShellWaitsFor) {
  const auto stage = Start("trap 'exit 7' TERM; sh -c 'echo up; exec sleep 1000'; exit 8");
  AskFor(SIGTERM);
  EXPECT_EQ(stage->Finish().status, 7);
}

TEST_F(FirstProcessTest, SparesOtherProcessesFromUserSignals) {
  const auto stage = Start(
      "trap 'echo trapped' USR1;"
      "sh -c 'echo up; while ! [ -e end ]; do sleep 0.01; done; exit 3' & wait $!; wait $!; exit $?");
  AskFor(SIGUSR1);
  stage->AwaitOutput("trapped\n");
  scratch_.Write("end", "");
  EXPECT_EQ(stage->Finish().status, 3);
}

// When the orphan has been reaped, the signal that came before it has been handled.
TEST_F(FirstProcessTest, PassesNoSignalOnForProcessesInside) {
  const Outcome outcome = Shell(
      "trap 'exit 7' TERM; for signal in TERM INT HUP QUIT USR1 IO RTMIN; do kill -$signal 1; done;"
      "(true & echo $!) > pid; read orphan < pid;"
      "while [ -e /proc/$orphan ]; do sleep 0.01; done; exit 3");
  EXPECT_EQ(outcome.status, 3);
}

// The kernel announces children that end together by one signal.
TEST_F(FirstProcessTest, ReapsAllThatEndedMeanwhile) {
  const auto stage =
      Start("for i in 1 2 3; do (sh -c 'while ! [ -e end ]; do sleep 0.01; done' &); done; echo up; exec sleep 1000");
  const auto zombies = [&] { return std::ranges::count_if(support::ChildrenOf(stage->pid()), support::IsZombie); };
  stage->Signal(SIGSTOP);
  scratch_.Write("end", "");
  EXPECT_TRUE(support::Eventually([&] { return zombies() == 3; }));
  stage->Signal(SIGCONT);
  EXPECT_TRUE(support::Eventually([&] { return zombies() == 0; }));
}

TEST_F(FirstProcessTest, StopsAndContinuesTheCommand) {
  const auto stage = Start("echo up; exec sleep 1000");
  const auto children = support::ChildrenOf(stage->pid());
  ASSERT_EQ(children.size(), 1u);
  const auto is_stopped = [&] { return support::ReadProcFile(children[0], "stat").value_or("").contains(") T "); };
  AskFor(SIGTSTP);
  EXPECT_TRUE(support::Eventually(is_stopped));
  AskFor(SIGCONT);
  EXPECT_TRUE(support::Eventually([&] { return !is_stopped(); }));
  AskFor(SIGTERM);
  EXPECT_EQ(stage->Finish().status, 128 + SIGTERM);
}

}  // namespace
}  // namespace holdfast::sandbox
