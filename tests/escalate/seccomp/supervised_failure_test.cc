// A stub whose command cannot be started outside says why.
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"

namespace holdfast::escalate {
namespace {

class SupervisedFailureTest : public SupervisedFixture {
 protected:
  SupervisedFailureTest() { Escalate("env"); }
};

TEST_F(SupervisedFailureTest, SaysThatACommandHasTooManyDescriptors) {
  const CommandOutcome outcome =
      RunShell("ulimit -n 4096; for i in {10..1100}; do eval \"exec $i</dev/null\"; done; exec /usr/bin/env true");
  EXPECT_EQ(outcome.status, 126);
  EXPECT_EQ(outcome.err, "holdfast: pass descriptors: Too many open files\n");
}

TEST_F(SupervisedFailureTest, SaysWhyACommandCouldNotBeStarted) {
  StartOutside start = [](OutsideOrder, OutsideObserver&) -> Result<std::unique_ptr<OutsideCommand>> {
    return Fail(ErrorKind::kSystem, "clone3: Resource temporarily unavailable");
  };
  const auto judge = [](const exec_policy::ExecAttempt&) -> exec_policy::Judgement {
    return {.action = exec_policy::Action::kEscalate};
  };
  auto supervision = Supervision::Create(loop_, approver_, std::move(start), {.judge = judge});
  ASSERT_TRUE(supervision) << supervision.error().message;
  supervision_ = *std::move(supervision);
  RunningCommand command({"/bin/true"}, supervision_->helper_socket()->get(), environment_);
  EXPECT_TRUE(RunLoopUntil([&] { return command.HasEnded(); }));
  EXPECT_EQ(command.outcome(),
            (CommandOutcome{.status = 126, .out = "", .err = "holdfast: clone3: Resource temporarily unavailable\n"}));
}

}  // namespace
}  // namespace holdfast::escalate
