// Callers that are hostile, or that die at a bad moment.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"
#include "exec_policy/rules_of.h"
#include "support/proc.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using namespace std::chrono_literals;
using testing::HasSubstr;

class SupervisedTrapsTest : public SupervisedFixture {
 protected:
  // Marks the environment of the commands, and returns the mark.
  std::string Mark() { return environment_.emplace_back("HOLDFAST_TEST_MARK=" + scratch_.path()); }
};

TEST_F(SupervisedTrapsTest, ACallerThatIsTracedIsNotRedirected) {
  Deny("id");
  EXPECT_EQ(Run({CallerProgram(), "traced", "/usr/bin/id"}), (CommandOutcome{0, "EPERM\n", ""}));
}

TEST_F(SupervisedTrapsTest, ACallerThatIsTracedRuns) {
  EXPECT_EQ(Run({CallerProgram(), "traced", "/bin/echo", "traced"}), (CommandOutcome{0, "traced\n", ""}));
}

TEST_F(SupervisedTrapsTest, ACallerThatCannotBeReadExecutesNothing) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read every process";
  EXPECT_EQ(Run({CallerProgram(), "not-dumpable", "/bin/true"}), (CommandOutcome{0, "EPERM\n", ""}));
}

TEST_F(SupervisedTrapsTest, ACallWithoutArgumentsIsJudged) {
  Deny("true", "no");
  EXPECT_EQ(Run({CallerProgram(), "without-arguments", "/bin/true"}),
            (CommandOutcome{1, "", "Execution denied: no\n"}));
}

TEST_F(SupervisedTrapsTest, AProgramThatIsExecutedByADescriptorIsJudgedByItsPath) {
  Deny("id", "no");
  const CommandOutcome denied{1, "", "Execution denied: no\n"};
  EXPECT_EQ(Run({CallerProgram(), "descriptor", "/usr/bin/id"}), denied);
  EXPECT_EQ(Run({CallerProgram(), "proc-link", "/usr/bin/id"}), denied);
  EXPECT_EQ(Run({CallerProgram(), "directory", "/usr/bin/id"}), denied);
}

TEST_F(SupervisedTrapsTest, AProgramThatIsExecutedByADescriptorRuns) {
  EXPECT_EQ(Run({CallerProgram(), "descriptor", "/bin/echo", "one"}), (CommandOutcome{0, "one\n", ""}));
  EXPECT_EQ(Run({CallerProgram(), "descriptor", "/bin/echo", "one"}, Strict()), (CommandOutcome{0, "one\n", ""}));
}

TEST_F(SupervisedTrapsTest, ManyArgumentsBeyondTheLimitOfTheKernelFailWithItsError) {
  Deny("true");
  EXPECT_EQ(Run({CallerProgram(), "many-arguments", "2000000", "/bin/true"}), (CommandOutcome{0, "E2BIG\n", ""}));
}

TEST_F(SupervisedTrapsTest, AttemptsThatCannotSucceedAreNotAskedAbout) {
  AskAbout("nothing", Action::kRun);
  EXPECT_EQ(RunShell("nothing 2>/dev/null; echo $?"), (CommandOutcome{0, "127\n", ""}));
  EXPECT_TRUE(approver_.asked.empty());
}

TEST_F(SupervisedTrapsTest, ATimerDoesNotRepeatAQuestion) {
  AskAbout("true", Action::kRun);
  const auto command = Start({CallerProgram(), "timer", "/bin/true"});
  ASSERT_TRUE(RunLoopUntil([&] { return !approver_.asked.empty(); }));
  approver_.AnswerAll({.action = Action::kRun});
  ASSERT_TRUE(RunLoopUntil([&] { return command->HasEnded(); }));
  EXPECT_EQ(approver_.asked.size(), 1u);
}

TEST_F(SupervisedTrapsTest, AFastTimerDoesNotPutOffTheExecutionOfTheStub) {
  Deny("true");
  for (int i = 0; i < 20; ++i) {
    const auto command = Start({CallerProgram(), "fast-timer", "/bin/true"});
    ASSERT_TRUE(RunLoopUntil([&] { return command->HasEnded(); }, 5s)) << i;
    EXPECT_THAT(command->outcome().status, testing::AnyOf(1, 128 + SIGALRM));
  }
}

TEST_F(SupervisedTrapsTest, TheStubHasTheSignalMaskOfTheCaller) {
  const Words words = {"/bin/sh", "-c", "exec /bin/grep SigBlk /proc/self/status"};
  Escalate("grep");
  EXPECT_EQ(Run(words), RunNatively(words));
  EXPECT_EQ(Run(words, Strict()), RunNatively(words));
}

TEST_F(SupervisedTrapsTest, AForbiddenProgramIsNoInterpreterOfAScript) {
  const exec_policy::Policy policy = exec_policy::RulesOf("prefix_rule(['uname'], 'forbidden', justification='no')");
  const SupervisorSettings settings = {.judge = [&](const exec_policy::ExecAttempt& attempt) {
    return exec_policy::Judge(policy, attempt, exec_policy::ProgramNames::kBaseName);
  }};
  const std::string script = scratch_.Write("script", "#! /usr/bin/uname  -s \n", 0755);
  const std::string other = scratch_.Write("other", "#!/bin/sh\necho $0 $1\n", 0755);
  EXPECT_EQ(RunShell("exec " + script, settings), (CommandOutcome{1, "", "Execution denied: no\n"}));
  EXPECT_EQ(Run({CallerProgram(), "descriptor", script}, settings), (CommandOutcome{1, "", "Execution denied: no\n"}));
  EXPECT_EQ(RunShell("exec " + other + " one", settings), (CommandOutcome{0, other + " one\n", ""}));
}

TEST_F(SupervisedTrapsTest, AQuestionEndsWithTheProcessThatAsks) {
  AskAbout("true", Action::kRun);
  const auto command = Start({"/bin/sh", "-c", "exec true"});
  ASSERT_TRUE(RunLoopUntil([&] { return approver_.open == 1; }));
  ::kill(command->pid(), SIGKILL);
  EXPECT_TRUE(RunLoopUntil([&] { return approver_.open == 0; }));
}

TEST_F(SupervisedTrapsTest, ManyQuestionsAreOpenAtOnce) {
  AskAbout("true", Action::kRun);
  const auto command = Start({"/bin/sh", "-c", "for i in 1 2 3 4 5; do true | /bin/true & done; wait"});
  ASSERT_TRUE(RunLoopUntil([&] { return approver_.open == 5; }));
  approver_.AnswerAll({.action = Action::kRun});
  EXPECT_TRUE(RunLoopUntil([&] { return command->HasEnded(); }));
  EXPECT_EQ(command->outcome(), (CommandOutcome{0, "", ""}));
}

TEST_F(SupervisedTrapsTest, RefusesQuestionsBeyondTheBound) {
  AskAbout("true", Action::kRun);
  const std::string fifo = scratch_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto command = Start({"/bin/bash", "-c", "/bin/true & read line < \"$0\"; { /bin/true; } 2>&1; kill %1", fifo},
                             {.judge = {}, .max_questions = 1});
  ASSERT_TRUE(RunLoopUntil([&] { return approver_.open == 1; }));
  const OwnedFd writer(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::write(writer.get(), "go\n", 3), 3);
  ASSERT_TRUE(RunLoopUntil([&] { return command->HasEnded(); }));
  EXPECT_THAT(command->outcome().out, HasSubstr("Resource temporarily unavailable"));
}

TEST_F(SupervisedTrapsTest, RefusesStubsBeyondTheBound) {
  Deny("true");
  EXPECT_THAT(RunShell("/bin/true 2>&1", {.judge = {}, .max_stubs = 0}).out,
              HasSubstr("Resource temporarily unavailable"));
}

TEST_F(SupervisedTrapsTest, RefusesMoreMemoryThanTheBound) {
  Escalate("true");
  EXPECT_THAT(RunShell("/bin/true $(seq 1000) 2>&1", {.judge = {}, .max_bytes = 1000}).out,
              HasSubstr("Resource temporarily unavailable"));
}

TEST_F(SupervisedTrapsTest, AnApprovedCommandRunsAndTheNextOneIsJudgedAgain) {
  AskAbout("sh", Action::kRun);
  Deny("id", "no");
  approver_.AnswerAll({.action = Action::kRun});
  EXPECT_EQ(RunShell("sh -c 'exec /usr/bin/id'"), (CommandOutcome{1, "", "Execution denied: no\n"}));
  ASSERT_EQ(approver_.asked.size(), 1u);
  EXPECT_EQ(approver_.asked[0].reason, "it is wanted");
  EXPECT_EQ(approver_.asked[0].argv, (Words{"sh", "-c", "exec /usr/bin/id"}));
}

TEST_F(SupervisedTrapsTest, ARefusedCommandDoesNotRun) {
  AskAbout("id", Action::kEscalate);
  approver_.AnswerAll({.action = Action::kDeny, .reason = "User declined execution"});
  EXPECT_EQ(RunShell("id"), (CommandOutcome{1, "", "Execution denied: User declined execution\n"}));
}

TEST_F(SupervisedTrapsTest, AnApprovedScriptWithoutInterpreterIsLeftToTheShell) {
  const std::string script = scratch_.Write("plain", "echo from the shell", 0755);
  AskAbout("plain", Action::kRun);
  approver_.AnswerAll({.action = Action::kRun});
  EXPECT_EQ(RunShell(script), (CommandOutcome{0, "from the shell\n", ""}));
  EXPECT_EQ(approver_.asked.size(), 1u);
}

TEST_F(SupervisedTrapsTest, ADeniedScriptWithoutInterpreterDoesNotRun) {
  const std::string script = scratch_.Write("plain", "echo from the shell", 0755);
  Deny("plain", "no");
  EXPECT_EQ(RunShell(script), (CommandOutcome{1, "", "Execution denied: no\n"}));
}

TEST_F(SupervisedTrapsTest, TheCommandOutsideEndsWithItsStub) {
  Escalate("sleep");
  const std::string mark = Mark();
  const auto command = Start({"/bin/bash", "-c", "exec sleep 1234"});
  ASSERT_TRUE(RunLoopUntil([&] { return support::LivingWithVariable(mark).size() == 2; }));  // the stub, the command
  ::kill(command->pid(), SIGKILL);
  EXPECT_TRUE(RunLoopUntil([&] { return support::LivingWithVariable(mark).empty(); }));
}

TEST_F(SupervisedTrapsTest, TheStubAndTheCommandEndWithTheSupervision) {
  Escalate("sleep");
  const std::string mark = Mark();
  const auto command = Start({"/bin/bash", "-c", "exec sleep 1234"});
  ASSERT_TRUE(RunLoopUntil([&] { return support::LivingWithVariable(mark).size() == 2; }));
  supervision_.reset();
  EXPECT_TRUE(RunLoopUntil([&] { return command->HasEnded() && support::LivingWithVariable(mark).empty(); }));
  EXPECT_EQ(command->outcome().status, 125);
}

TEST_F(SupervisedTrapsTest, CallsFailWhenTheSupervisionHasEnded) {
  const auto command = Start({"/bin/bash", "-c", "echo go; until ! /bin/true; do :; done 2>&1"});
  ASSERT_TRUE(RunLoopUntil([&] { return command->out().contains("go"); }));
  supervision_.reset();
  EXPECT_TRUE(RunLoopUntil([&] { return command->HasEnded(); }));
  EXPECT_THAT(command->out(), HasSubstr("Function not implemented"));
}

TEST_F(SupervisedTrapsTest, AStubThatAProcessHasMadeReadableIsReplaced) {
  Deny("true", "no");
  EXPECT_EQ(Run({CallerProgram(), "change-stub", "/bin/true"}),
            (CommandOutcome{0, "111\n", "Execution denied: no\nExecution denied: no\n"}));
}

TEST_F(SupervisedTrapsTest, AnExecutionThatNeverEndsDelaysNoOtherOne) {
  Deny("true", "no");
  const auto command = Start(
      {"/bin/bash", "-c", "\"$0\" held-by-thread /bin/true | { read line; /bin/true; }; echo $?", CallerProgram()});
  EXPECT_TRUE(RunLoopUntil([&] { return command->outcome().err.contains("Execution denied: no"); }));
  EXPECT_FALSE(command->HasEnded());
}

TEST_F(SupervisedTrapsTest, AnExecutionThatNeverEndsDoesNotHoldUpTheEndOfTheSupervision) {
  Deny("true");
  const auto command = Start({CallerProgram(), "held-by-thread", "/bin/true"});
  ASSERT_TRUE(RunLoopUntil([&] { return command->out() == "held\n"; }));
  const auto before = std::chrono::steady_clock::now();
  supervision_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

TEST_F(SupervisedTrapsTest, ThreadsAreRedirectedAlsoWithoutALimitedWait) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_SIGPENDING, &before), 0);
  const rlimit none = {0, before.rlim_max};  // the supervisor gets no timer
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &none), 0);
  Deny("id", "no");
  EXPECT_EQ(RunShell("id; exec id"), (CommandOutcome{1, "", "Execution denied: no\nExecution denied: no\n"}));
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &before), 0);
}

TEST_F(SupervisedTrapsTest, TheFirstExecutionMayBeTrusted) {
  Deny("bash");
  EXPECT_EQ(RunShell("echo started", {.judge = {}, .first = FirstExec::kTrusted}),
            (CommandOutcome{0, "started\n", ""}));
  EXPECT_EQ(judged("bash"), 0u);
}

}  // namespace
}  // namespace holdfast::escalate
