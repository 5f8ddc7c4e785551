// Programs that leave the sandbox get what they had when their call was judged, whatever their process does while a
// person is asked.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"
#include "exec_policy/rules_of.h"
#include "support/contents.h"
#include "support/program.h"

namespace holdfast::escalate {
namespace {

namespace fs = std::filesystem;
using exec_policy::Action;

class SupervisedDepartureTest : public SupervisedFixture {
 protected:
  std::string Path(const std::string& name) const { return fs::canonical(scratch_.path()).string() + "/" + name; }

  std::unique_ptr<RunningCommand> StartAndAwaitQuestion(const Words& words, SupervisorSettings settings = {}) {
    auto command = Start(words, std::move(settings));
    EXPECT_TRUE(RunLoopUntil([&] { return approver_.asked.size() == 1; })) << command->outcome().err;
    return command;
  }

  CommandOutcome Approve(RunningCommand& command, Action action = Action::kEscalate) {
    approver_.AnswerAll({.action = action});
    EXPECT_TRUE(RunLoopUntil([&] { return command.HasEnded(); }));
    return command.outcome();
  }

  // The settings of a supervisor that judges by real rules.
  static SupervisorSettings Ruled(const exec_policy::Policy& policy) {
    return {.judge = [&](const exec_policy::ExecAttempt& attempt) {
      return exec_policy::Judge(policy, attempt, exec_policy::ProgramNames::kResolvedPath);
    }};
  }
};

TEST_F(SupervisedDepartureTest, AnApprovedProgramRunsInTheDirectoryThatWasShown) {
  fs::create_directory(Path("sub"));
  fs::create_directory(Path("victim"));
  AskAbout("touch", Action::kEscalate);
  const auto command = StartAndAwaitQuestion({"/bin/sh", "-c", "cd \"$0\" && exec touch made", Path("sub")});
  EXPECT_EQ(approver_.asked[0].cwd, Path("sub"));
  fs::rename(Path("sub"), Path("moved"));
  fs::create_symlink("victim", Path("sub"));
  EXPECT_EQ(Approve(*command), (CommandOutcome{0, "", ""}));
  EXPECT_TRUE(fs::exists(Path("moved/made")));
  EXPECT_FALSE(fs::exists(Path("victim/made")));
}

TEST_F(SupervisedDepartureTest, AQuestionShowsTheRealPathOfTheDirectory) {
  fs::create_directory(Path("real"));
  fs::create_symlink("real", Path("link"));
  AskAbout("true", Action::kEscalate);
  const auto command = StartAndAwaitQuestion({"/bin/sh", "-c", "cd \"$0\" && exec true", Path("link")});
  EXPECT_EQ(approver_.asked[0].cwd, Path("real"));
  EXPECT_EQ(Approve(*command).status, 0);
}

TEST_F(SupervisedDepartureTest, AnApprovedProgramWritesToTheStreamThatWasThere) {
  ASSERT_EQ(::mkfifo(Path("go").c_str(), 0600), 0);
  AskAbout("echo", Action::kEscalate);
  const auto command =
      StartAndAwaitQuestion({CallerProgram(), "exchange-output", Path("go"), Path("other"), "/bin/echo", "approved"});
  const OwnedFd go(::open(Path("go").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(RunLoopUntil([&] { return support::Contents(Path("other")) == "exchanged\n"; }));
  EXPECT_EQ(Approve(*command), (CommandOutcome{0, "approved\n", ""}));
  EXPECT_EQ(support::Contents(Path("other")), "exchanged\n");
}

TEST_F(SupervisedDepartureTest, AProgramOutsideHasTheVariablesOfTheStartAndWhatTheRulesList) {
  const exec_policy::Policy policy = exec_policy::RulesOf("prefix_rule(['/usr/bin/env'], env=['WANTED'])");
  const Words words = {"/bin/sh", "-c",
                       "cd /usr; export LD_PRELOAD=/tmp/x.so PATH=/tmp GIT_SSH_COMMAND=x WANTED='a b' TERM=vt100 "
                       "LC_ALL=/tmp HOME=/tmp; exec /usr/bin/env"};
  EXPECT_EQ(Run(words, Ruled(policy)).out,
            "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/\nLC_ALL=C\nTERM=vt100\nWANTED=a b\nPWD=/usr\n");
}

TEST_F(SupervisedDepartureTest, AQuestionTellsTheVariablesAndAnApprovedProgramGetsThem) {
  const exec_policy::Policy policy = exec_policy::RulesOf("prefix_rule(['/usr/bin/env'], 'prompt', env=['WANTED'])");
  const auto command =
      StartAndAwaitQuestion({"/bin/sh", "-c", "cd /usr; export WANTED=1 OTHER=2 TERM=dumb; exec env"}, Ruled(policy));
  EXPECT_EQ(approver_.asked[0].variables, (process::Environment{{"TERM", "dumb"}, {"WANTED", "1"}}));
  EXPECT_EQ(Approve(*command).out,
            "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/\nLC_ALL=C\nTERM=dumb\nWANTED=1\nPWD=/usr\n");
}

class SupervisedMountTest : public SupervisedDepartureTest {
 protected:
  void SetUp() override {
    if (support::Program({"unshare", "-Urm", "true"}).Finish().status != 0) GTEST_SKIP() << "no user namespaces";
    fs::create_directory(Path("sub"));
    policy_ = exec_policy::RulesOf("prefix_rule(['/usr/bin/touch'])\nprefix_rule(['/usr/bin/mkdir'], 'prompt')");
  }

  // Words that execute a program in a directory that only its own mount namespace has.
  Words InOwnMount(const std::string& program) const {
    return {"/usr/bin/unshare",
            "-Urm",
            "/bin/sh",
            "-c",
            "mount -t tmpfs none \"$0\" && cd \"$0\" && " + program + "; echo $?; ls",
            Path("sub")};
  }

  exec_policy::Policy policy_;
};

TEST_F(SupervisedMountTest, ARuleTakesNothingOutOfADirectoryThatIsAnotherOneOutside) {
  EXPECT_EQ(Run(InOwnMount("touch made"), Ruled(policy_)), (CommandOutcome{0, "0\nmade\n", ""}));
  EXPECT_TRUE(fs::is_empty(Path("sub")));
}

TEST_F(SupervisedMountTest, APersonIsAskedToRunInsideWhatCannotLeave) {
  const auto command = StartAndAwaitQuestion(InOwnMount("mkdir made"), Ruled(policy_));
  EXPECT_EQ(approver_.asked[0].when_approved, Action::kRun);
  EXPECT_EQ(Approve(*command, Action::kRun), (CommandOutcome{0, "0\nmade\n", ""}));
  EXPECT_TRUE(fs::is_empty(Path("sub")));
}

TEST_F(SupervisedMountTest, AnAnswerDoesNotTakeItOutEither) {
  const auto command = StartAndAwaitQuestion(InOwnMount("mkdir made"), Ruled(policy_));
  EXPECT_EQ(
      Approve(*command),
      (CommandOutcome{0, "1\n", "Execution denied: Outside of the sandbox the working directory is another one\n"}));
  EXPECT_TRUE(fs::is_empty(Path("sub")));
}

}  // namespace
}  // namespace holdfast::escalate
