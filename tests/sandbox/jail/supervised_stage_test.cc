// The inner stage starts a command whose execs a supervisor outside decides about.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"
#include "sandbox/jail/lifeline.h"
#include "support/exec_supervisor.h"

namespace holdfast::sandbox {
namespace {

using support::ExecSupervisor;
using testing::HasSubstr;
using testing::Not;

class SupervisedStageTest : public InnerStageFixture {
 protected:
  // The stage closes the socket in its own process, not in the test's.
  InnerOrders Supervised(InnerOrders orders) {
    orders.exec_supervisor_fd = supervisor_.helper_end().get();
    return orders;
  }

  void Start(const InnerOrders& orders) {
    stage_.emplace(Supervised(orders));
    supervisor_.helper_end().Reset();
  }
  void TakeOver() {
    ASSERT_TRUE(supervisor_.ReceiveListener());
    supervisor_.Confirm();
  }

  ExecSupervisor supervisor_;
  std::optional<RunningStage> stage_;
};

TEST_F(SupervisedStageTest, EveryExecIsDecidedOutside) {
  Start(Script("/bin/true && echo ran; /bin/false || exit 3"));
  TakeOver();
  EXPECT_EQ(supervisor_.Continue(), "/bin/sh");
  EXPECT_EQ(supervisor_.Continue(), "/bin/true");
  EXPECT_EQ(supervisor_.Refuse(EACCES), "/bin/false");
  const Outcome outcome = stage_->Finish();
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
  EXPECT_EQ(supervisor_.Continue(), std::nullopt) << "all that could ask have ended";
}

TEST_F(SupervisedStageTest, NothingStartsBeforeTheSupervisorHasTheListener) {
  Start(Script("echo ran"));
  ASSERT_TRUE(supervisor_.ReceiveListener());
  supervisor_.HangUp();
  const Outcome outcome = stage_->Finish();
  EXPECT_EQ(outcome.status, kRefusedStatus);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "holdfast-linux-sandbox: execve supervision: the supervisor has ended before it took the command over\n");
}

TEST_F(SupervisedStageTest, AFailedExecOfTheCommandIsReported) {
  const auto report = sys::MakePipe(sys::OurEnd::kRead);
  InnerOrders orders = Orders({"/no/such/program"});
  orders.report_fd = report->write_end.get();
  Start(orders);
  TakeOver();
  EXPECT_EQ(supervisor_.Continue(), "/no/such/program");
  EXPECT_EQ(stage_->Finish().status, 127);
  char text[200] = {};
  EXPECT_GT(sys::Read(report->read_end.get(), text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "failed 127 exec /no/such/program: No such file or directory\n");
}

TEST_F(SupervisedStageTest, ARefusalOfTheCommandItselfIsReported) {
  Start(Script("echo ran"));
  TakeOver();
  EXPECT_EQ(supervisor_.Refuse(EACCES), "/bin/sh");
  const Outcome outcome = stage_->Finish();
  EXPECT_EQ(outcome.status, 126);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(SupervisedStageTest, TheCommandHasNeitherTheSocketNorTheListener) {
  Start(Orders({"/bin/sh", "-c", "for fd in /proc/self/fd/*; do readlink $fd; done"}));
  TakeOver();
  EXPECT_EQ(supervisor_.Continue(), "/bin/sh");
  while (supervisor_.Continue()) continue;
  const std::string out = stage_->Finish().out;
  EXPECT_THAT(out, HasSubstr("pipe:"));
  EXPECT_THAT(out, Not(HasSubstr("socket:")));
  EXPECT_THAT(out, Not(HasSubstr("seccomp")));
}

// pid 1 could be inspected from inside if the command's process shared its memory while that becomes dumpable.
TEST_F(SupervisedStageTest, TheCommandCannotInspectPid1) {
  Start(Script("readlink /proc/self/exe /proc/1/exe"));
  TakeOver();
  while (supervisor_.Continue()) continue;
  const std::string out = stage_->Finish().out;
  EXPECT_THAT(out, HasSubstr("readlink"));
  EXPECT_EQ(std::ranges::count(out, '\n'), 1) << out;
}

TEST_F(SupervisedStageTest, TheSetGroupIdBitIsRefused) {
  ASSERT_EQ(::mkdir((scratch_.path() + "/directory").c_str(), 0755), 0);
  Start(Script("chmod g+s directory || echo refused"));
  TakeOver();
  while (supervisor_.Continue()) continue;
  EXPECT_EQ(stage_->Finish().out, "refused\n");
  EXPECT_EQ(Shell("chmod g+s directory && echo set").out, "set\n");
}

// A supervisor may take minutes for the first answer, because it has to ask a person.
TEST_F(SupervisedStageTest, TheEndOfTheOuterStageEndsTheWaitForAnAnswer) {
  auto ends = MakeLifeline();
  ASSERT_TRUE(ends);
  InnerOrders orders = Script("echo ran");
  orders.lifeline_fd = ends->inner.get();
  stage_.emplace(Supervised(orders), [&] { ends->outer.Reset(); });
  supervisor_.helper_end().Reset();
  ends->inner.Reset();
  ASSERT_TRUE(ReceiveAnnouncement(ends->outer.get()).is_open());
  SendGo(ends->outer.get());
  TakeOver();
  ends->outer.Reset();
  const Outcome outcome = stage_->Finish();
  EXPECT_EQ(outcome.status, 128 + SIGKILL);
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace holdfast::sandbox
