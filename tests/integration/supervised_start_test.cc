// The helper starts a command whose execs a supervisor decides about, in the sandbox of bubblewrap, as this user and,
// if that is root, also as an unprivileged user.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/exec_supervisor.h"
#include "support/program.h"
#include "support/sandbox_workspace.h"

namespace holdfast::support {
namespace {

using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

class SupervisedStartTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  Strings Words(const std::string& script) const {
    Strings words = workspace_.InsideWords(script);
    const Strings flag = {"--exec-supervisor-fd", "3"};
    words.insert(std::ranges::find(words, "--sandbox-policy-cwd"), flag.begin(), flag.end());
    return words;
  }

  SandboxWorkspace workspace_{GetParam()};
  ExecSupervisor supervisor_;
};

INSTANTIATE_TEST_SUITE_P(, SupervisedStartTest,
                         testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap})), CaseName);

TEST_P(SupervisedStartTest, EveryExecIsDecidedOutside) {
  Program program(Words("/bin/true && echo ran; /bin/false; ls -l /proc/$$/fd; exit 5"),
                  supervisor_.helper_end().get());
  supervisor_.helper_end().Reset();
  ASSERT_TRUE(supervisor_.ReceiveListener());
  supervisor_.Confirm();
  // bash is looked up in PATH, and the first directories may not have it.
  std::string path;
  while (!path.ends_with("/true")) {
    const auto next = supervisor_.Continue();
    ASSERT_TRUE(next);
    path = *next;
  }
  EXPECT_EQ(supervisor_.Refuse(EACCES), "/bin/false");
  while (supervisor_.Continue()) continue;
  const Outcome outcome = program.Finish();
  EXPECT_EQ(outcome.status, 5) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("ran\n"));
  EXPECT_THAT(outcome.err, HasSubstr("/bin/false: Permission denied"));
  EXPECT_THAT(outcome.out, HasSubstr("pipe:"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("socket:")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("seccomp")));
}

TEST_P(SupervisedStartTest, TheCommandInheritsADescriptorThatItKeeps) {
  Strings words = workspace_.InsideWords("ls /proc/$$/fd; exec ls -l /proc/self/fd/3");
  const Strings flag = {"--keep-fd", "3"};
  words.insert(std::ranges::find(words, "--sandbox-policy-cwd"), flag.begin(), flag.end());
  const Outcome outcome = Program(words, supervisor_.helper_end().get()).Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("socket:"));
}

TEST_P(SupervisedStartTest, NothingStartsWhenTheSupervisorIsGone) {
  supervisor_.HangUp();
  Program program(Words("echo ran"), supervisor_.helper_end().get());
  supervisor_.helper_end().Reset();
  const Outcome outcome = program.Finish();
  EXPECT_EQ(outcome.status, 101);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("the supervisor has ended before it took the command over"));
}

// The answer to the first exec may take minutes, because a person has to give it.
TEST_P(SupervisedStartTest, NothingIsLeftWhenTheHelperIsKilledBeforeTheAnswer) {
  Program program(Words("echo ran"), supervisor_.helper_end().get());
  supervisor_.helper_end().Reset();
  ASSERT_TRUE(supervisor_.ReceiveListener());
  supervisor_.Confirm();
  program.Signal(SIGKILL);
  EXPECT_NE(program.Finish().status, 0);
  while (supervisor_.Continue()) continue;  // until no process is left that could ask
}

}  // namespace
}  // namespace holdfast::support
