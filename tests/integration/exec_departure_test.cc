// Tests of what a program takes with it when the rules or a person let it out of the sandbox: its directory, and its
// environment. The commands are hostile. The server runs as root, and as an ordinary user.
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/exec_policy_fixture.h"
#include "support/eventually.h"
#include "support/required_program.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ExecDepartureTest : public ExecPolicyFixture, public testing::WithParamInterface<uid_t> {
 protected:
  void SetUp() override {
    ExecPolicyFixture::SetUp();
    if (GetParam() == ::geteuid()) return;
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    other_server_ = std::make_unique<ServerProcess>(ServerProcess::Start({.user = GetParam()}));
    client_ = RpcClient::Ready(other_server_->url());
    GiveToUser({workspace_.path(), elsewhere_.path(), rules_.path()});
  }

  // A script under rules in a sandbox that leaves the workspace writable.
  StartRequest Hostile(const std::string& script, const std::string& rules) {
    StartRequest request = Judged("p", script, rules);
    GiveToUser({rules_.path() + "/p.rules"});
    return request;
  }

  std::unique_ptr<ServerProcess> other_server_;
};

// While the person reads the question, the command puts a link to another directory in the place of the one that the
// question shows.
TEST_P(ExecDepartureTest, AnApprovedProgramRunsInTheDirectoryThatWasShown) {
  const std::string script =
      "mkdir sub; (cd sub; /usr/bin/touch made; echo status $?) & until [ -e go ]; do :; done; mv sub moved; "
      "ln -s " +
      elsewhere_.path() + " sub; : > swapped; wait";
  client_.Start(Hostile(script, Rule("/usr/bin/touch", "prompt")));
  const Message question = Asked(client_, "p");
  EXPECT_EQ(question.Text("params.cwd"), In("sub"));
  workspace_.Write("go", "");
  ASSERT_TRUE(Eventually([&] { return fs::exists(In("swapped")); }));
  Decide(client_, question, "escalate");
  EXPECT_THAT(client_.WaitForClosed("p"), HasSubstr("status 0\n"));
  EXPECT_TRUE(fs::exists(In("moved/made")));
  EXPECT_FALSE(MadeElsewhere());
}

// The sandbox has a /dev of its own. A rule would otherwise make the program work in that of the host.
TEST_P(ExecDepartureTest, NothingLeavesADirectoryThatOnlyTheSandboxHas) {
  const std::string name = fs::path(workspace_.path()).filename();
  const Ended ended =
      Run(Hostile("cd /dev/shm && /usr/bin/touch " + name + "; /usr/bin/ls /dev/shm", Rule("/usr/bin/touch", "allow")));
  EXPECT_EQ(ended.output, name + "\n");
  EXPECT_FALSE(fs::exists("/dev/shm/" + name));
  fs::remove("/dev/shm/" + name);
}

TEST_P(ExecDepartureTest, AnAnswerDoesNotTakeItOutEither) {
  const std::string name = fs::path(workspace_.path()).filename();
  client_.Start(Hostile("cd /dev/shm && /usr/bin/touch " + name, Rule("/usr/bin/touch", "prompt")));
  const Message question = Asked(client_, "p");
  EXPECT_EQ(question.Text("params.proposed"), "run");
  Decide(client_, question, "escalate");
  EXPECT_THAT(client_.WaitForClosed("p"), HasSubstr("Execution denied: Outside of the sandbox the working directory"));
  EXPECT_FALSE(fs::exists("/dev/shm/" + name));
}

TEST_P(ExecDepartureTest, GitOutsideDoesNotRunWhatTheCommandHasPutIntoTheEnvironment) {
  if (!WantProgram("git")) return;
  const std::string script = "export GIT_SSH_COMMAND='" + TouchElsewhere() +
                             " #' GIT_SSH_VARIANT=simple; git ls-remote ssh://nowhere.invalid/x; echo status $?";
  client_.Start(Hostile(script, Rule("git", "prompt")));
  Decide(client_, Asked(client_, "p"), "escalate");
  EXPECT_THAT(client_.WaitForClosed("p"), Not(HasSubstr("status 0\n")));
  EXPECT_FALSE(MadeElsewhere());
}

TEST_P(ExecDepartureTest, AProgramOutsideHasTheEnvironmentThatTheClientGave) {
  StartRequest request =
      Hostile("export PATH=$PWD/ LD_PRELOAD=$PWD/x.so GIVEN=2 LANG=$PWD LISTED='a b' TERM=vt100; exec /usr/bin/env",
              Rule("/usr/bin/env", "allow", ", env=[\"LISTED\"]"));
  request.more += R"(,"env":{"PATH":"/usr/bin:/bin","GIVEN":"1"})";
  const Ended ended = Run(request);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.output, AllOf(HasSubstr(":/usr/bin:/bin\n"), HasSubstr("GIVEN=1\n"), HasSubstr("LISTED=a b\n"),
                                  HasSubstr("TERM=vt100\n"), HasSubstr("PWD=" + workspace_.path() + "\n")));
  EXPECT_THAT(ended.output,
              AllOf(Not(HasSubstr("LD_PRELOAD")), Not(HasSubstr("LANG")), Not(HasSubstr("PATH=" + In("")))));
}

TEST_P(ExecDepartureTest, AQuestionTellsTheVariablesThatTheProgramWouldGet) {
  client_.Start(Hostile("LISTED='a b' TERM=vt100 OTHER=1 /usr/bin/touch made; echo status $?",
                        Rule("/usr/bin/touch", "prompt", ", env=[\"LISTED\"]")));
  const Message question = Asked(client_, "p");
  EXPECT_EQ(question.Text("params.env.LISTED"), "a b");
  EXPECT_EQ(question.Text("params.env.TERM"), "vt100");
  EXPECT_FALSE(question.Has("params.env.OTHER"));
  Decide(client_, question, "escalate");
  EXPECT_THAT(client_.WaitForClosed("p"), HasSubstr("status 0\n"));
}

INSTANTIATE_TEST_SUITE_P(, ExecDepartureTest, testing::ValuesIn(std::set<uid_t>{::geteuid(), kNobody}),
                         [](const auto& test) { return test.param == 0 ? "AsRoot" : "AsAnOrdinaryUser"; });

}  // namespace
}  // namespace holdfast::support
