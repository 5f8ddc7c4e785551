// The shell that `make patched-bash` builds, with the wrapper and the server. The tests are skipped without the shell.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escalate/nobody_to_ask.h"
#include "escalate/wrapper_server/fake_outside.h"
#include "escalate/wrapper_server/fake_view.h"
#include "escalate/wrapper_server/wrapper_server.h"
#include "support/loop_runner.h"
#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::escalate {
namespace {

using support::Outcome;
using support::Program;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRules = R"(
prefix_rule(pattern=["id"], decision="allow")
prefix_rule(pattern=["whoami"], decision="forbidden", justification="ask me instead")
)";

class PatchedBashTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::access(HOLDFAST_PATCHED_BASH, X_OK) != 0) GTEST_SKIP() << "make patched-bash has not been run";
    const exec_policy::RulesText text{.name = "test.rules", .text = kRules};
    WrapperServerOptions options{
        .policy = std::make_shared<const exec_policy::Policy>(*exec_policy::Policy::Parse({&text, 1})),
        .look = [](pid_t, const std::string& file) { return ViewOf(file); },
        .start = outside_.starter()};
    server_ = *WrapperServer::Create(loop_, workers_, approver_, std::move(options));
  }

  // Runs a script. Every command outside writes its arguments to its standard output and exits with 7.
  Outcome Run(const std::string& script, const std::string& wrapper = HOLDFAST_EXECVE_WRAPPER) {
    Program bash(
        {"env", "BASH_EXEC_WRAPPER=" + wrapper, "CODEX_ESCALATE_SOCKET=3", HOLDFAST_PATCHED_BASH, "-c", script},
        server_->client_socket()->get());
    EXPECT_TRUE(support::RunUntil(loop_, [&] {
      EndCommands();
      siginfo_t ended = {};
      return ::waitid(P_PID, static_cast<id_t>(bash.pid()), &ended, WEXITED | WNOWAIT | WNOHANG) == 0 &&
             ended.si_pid != 0;
    }));
    return bash.Finish();
  }

  void EndCommands() {
    while (!outside_.commands.empty()) {
      FakeOutside::Command& command = *outside_.commands.front();
      std::string text = command.order.path;
      for (const std::string& word : command.order.argv) text += " [" + word + "]";
      text += "\n";
      EXPECT_EQ(::write(command.order.fds.at(1).fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
      command.observer.OnEnded({.exit_code = 7});
    }
  }

  loop::EventLoop loop_;
  loop::WorkerPool workers_{loop_, {}};
  NobodyToAsk approver_;
  FakeOutside outside_;
  std::unique_ptr<WrapperServer> server_;
  support::ScratchDir scratch_;
};

TEST_F(PatchedBashTest, RunsProgramsInside) {
  const Outcome outcome = Run("/bin/echo one; X=2 printenv X | cat; echo $?; (exit 3); echo $?");
  EXPECT_EQ(outcome.out, "one\n2\n0\n3\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(PatchedBashTest, RunsAProgramOutsideByARule) {
  const Outcome outcome = Run("id -u 'a b'; echo \"status $?\"; x=$(id); echo \"<$x>\"; exec -a other id last");
  EXPECT_EQ(outcome.out, "/usr/bin/id [id] [-u] [a b]\nstatus 7\n</usr/bin/id [id]>\n/usr/bin/id [other] [last]\n");
  EXPECT_EQ(outcome.status, 7);
}

TEST_F(PatchedBashTest, ShowsADenial) {
  const Outcome outcome = Run("whoami; echo $?");
  EXPECT_EQ(outcome.out, "1\n");
  EXPECT_EQ(outcome.err, "Execution denied: ask me instead\n");
}

TEST_F(PatchedBashTest, IsSupervisedAlsoAfterAChangeOfTheVariable) {
  const Outcome outcome =
      Run("BASH_EXEC_WRAPPER= whoami; unset BASH_EXEC_WRAPPER; whoami; export BASH_EXEC_WRAPPER=/x; whoami");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "Execution denied: ask me instead\nExecution denied: ask me instead\nExecution denied: ask me instead\n");
}

TEST_F(PatchedBashTest, RunsNothingWithoutItsWrapper) {
  const Outcome outcome = Run("/bin/echo ran; echo $?; exec /bin/echo ran", "/missing/wrapper");
  EXPECT_EQ(outcome.out, "126\n");
  EXPECT_EQ(outcome.status, 126);
  EXPECT_THAT(outcome.err, HasSubstr("/missing/wrapper: the wrapper cannot be executed: No such file or directory"));
}

TEST_F(PatchedBashTest, RunsScriptsWithoutAnInterpreterLine) {
  const std::string script = scratch_.Write("script", "echo \"script $1\"\nexit 5\n", 0755);
  const Outcome outcome =
      Run(script + " argument; echo $?; cd " + scratch_.path() + "; ./script again; ./missing; echo $?");
  EXPECT_EQ(outcome.out, "script argument\n5\nscript again\n127\n");
  EXPECT_THAT(outcome.err, HasSubstr("./missing: No such file or directory"));
}

TEST_F(PatchedBashTest, IsAnOrdinaryShellWithoutTheVariable) {
  EXPECT_EQ(Program({"env", "-u", "BASH_EXEC_WRAPPER", HOLDFAST_PATCHED_BASH, "-c", "/bin/echo $((1+1)); exit 4"})
                .Finish()
                .out,
            "2\n");
}

}  // namespace
}  // namespace holdfast::escalate
