// Several threads of one process that call execve at the same time. The kernel lets nobody trace a thread while another
// thread of its process executes a program, and that execution waits for the tracers of all other threads.
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"
#include "escalate/seccomp/tracee.h"
#include "support/proc.h"
#include "sys/wait_limit.h"

namespace holdfast::escalate {
namespace {

using namespace std::chrono_literals;

constexpr int kRounds = 100;

std::string Lines(const std::string& line) {
  std::string lines;
  for (int i = 0; i < kRounds; ++i) lines += line;
  return lines;
}

class SupervisedThreadsTest : public SupervisedFixture {
 protected:
  // Executes the words with four threads of one process at a time, in one process after the other.
  CommandOutcome RunThreads(Words words, SupervisorSettings settings = {}) {
    words.insert(words.begin(), {CallerProgram(), "many-threads", std::to_string(kRounds)});
    const auto command = Start(words, std::move(settings));
    EXPECT_TRUE(RunLoopUntil([&] { return command->HasEnded(); }, 120s)) << command->outcome().out;
    return command->outcome();
  }
};

TEST_F(SupervisedThreadsTest, AreDeniedOncePerProcess) {
  Deny("true", "no");
  EXPECT_EQ(RunThreads({"/bin/true"}), (CommandOutcome{0, "others 0\n", Lines("Execution denied: no\n")}));
}

TEST_F(SupervisedThreadsTest, AreDeniedByAStrictSupervisor) {
  Deny("true", "no");
  EXPECT_EQ(RunThreads({"/bin/true"}, Strict()), (CommandOutcome{0, "others 0\n", Lines("Execution denied: no\n")}));
}

TEST_F(SupervisedThreadsTest, RunOneProgramPerProcessUnderAStrictSupervisor) {
  EXPECT_EQ(RunThreads({"/bin/false"}, Strict()), (CommandOutcome{0, "others 0\n", ""}));
}

TEST_F(SupervisedThreadsTest, RunOneProgramPerProcessOutside) {
  Escalate("sh");
  EXPECT_EQ(RunThreads({"/bin/sh", "-c", "echo ran >&2; exit 1"}), (CommandOutcome{0, "others 0\n", Lines("ran\n")}));
}

TEST_F(SupervisedThreadsTest, AreDeniedAlsoWithoutALimitedWait) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_SIGPENDING, &before), 0);
  const rlimit none = {0, before.rlim_max};  // the supervisor gets no timer
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &none), 0);
  Deny("true", "no");
  EXPECT_EQ(RunThreads({"/bin/true"}), (CommandOutcome{0, "others 0\n", Lines("Execution denied: no\n")}));
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &before), 0);
}

TEST_F(SupervisedThreadsTest, AreNotWaitedForWhileAnotherTracerHoldsUpTheExecution) {
  RunningCommand command({CallerProgram(), "held-by-thread", "/bin/true"}, -1, environment_);
  ASSERT_TRUE(RunLoopUntil([&] { return command.out() == "held\n"; }));
  const auto children = support::ChildrenOf(command.pid());
  ASSERT_EQ(children.size(), 1u);
  const auto limit = sys::WaitLimit::Create(1ms);
  ASSERT_TRUE(limit);
  const auto tracee = Tracee::Seize(children[0], children[0], limit->get());
  ASSERT_FALSE(tracee);
  EXPECT_EQ(tracee.error(), EAGAIN);
}

}  // namespace
}  // namespace holdfast::escalate
