#include "sandbox/jail/lifeline.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/test_socket.h"

namespace holdfast::sandbox {
namespace {

class LifelineTest : public InnerStageFixture {
 protected:
  LifelineTest() : ends_(*MakeLifeline()) {}

  // The inner stage closes its copy of the outer end, as an execution would.
  std::unique_ptr<RunningStage> Start(std::string script) {
    InnerOrders orders = Script(std::move(script));
    orders.lifeline_fd = ends_.inner.get();
    auto stage = std::make_unique<RunningStage>(orders, [this] { ends_.outer.Reset(); });
    ends_.inner.Reset();
    return stage;
  }
  OwnedFd AwaitAnnouncement() const {
    pollfd ready = {ends_.outer.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, static_cast<int>(support::kPatience.count())), 1);
    return ReceiveAnnouncement(ends_.outer.get());
  }
  bool Exists(const std::string& name) const { return ::access((scratch_.path() + "/" + name).c_str(), F_OK) == 0; }

  LifelineEnds ends_;
};

TEST_F(LifelineTest, TellsWhichProcessTheInnerStageIs) {
  const auto stage = Start("true");
  const OwnedFd pidfd = AwaitAnnouncement();
  ASSERT_TRUE(pidfd.is_open());
  const auto facts = support::ReadProcFile(::getpid(), fmt::format("fdinfo/{}", pidfd.get())).value_or("");
  EXPECT_THAT(facts, testing::HasSubstr(fmt::format("\nPid:\t{}\n", stage->pid())));
}

// An outer stage that knows the inner stage answers before it is asked, and does not have to wake up.
TEST_F(LifelineTest, DoesNotAskForWhatItHas) {
  SendGo(ends_.outer.get());
  const auto stage = Start("exit 3");
  EXPECT_EQ(stage->Finish().status, 3);
  EXPECT_FALSE(ReceiveAnnouncement(ends_.outer.get()).is_open());
}

TEST_F(LifelineTest, StartsTheCommandWhenToldTo) {
  const auto stage = Start("echo ran; exit 3");
  AwaitAnnouncement();
  const auto waits = [&] {  // the stage sleeps, and has done everything before
    const std::string status = support::ReadProcFile(stage->pid(), "status").value_or("");
    return status.contains("\nState:\tS") && status.contains("\nSeccomp:\t2\n");
  };
  EXPECT_TRUE(support::Eventually(waits));
  EXPECT_TRUE(support::ChildrenOf(stage->pid()).empty());
  SendGo(ends_.outer.get());
  const Outcome outcome = stage->Finish();
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_EQ(outcome.status, 3);
}

// No process is left that could be told why.
TEST_F(LifelineTest, StartsNothingForWhomIsGone) {
  const auto stage = Start("touch ran");
  ends_.outer.Reset();
  const Outcome outcome = stage->Finish();
  EXPECT_EQ(outcome.status, kRefusedStatus);
  EXPECT_EQ(outcome.err, "");
  EXPECT_FALSE(Exists("ran"));
}

TEST_F(LifelineTest, StartsNothingForWhomGoesInsteadOfTellingItTo) {
  const auto stage = Start("touch ran");
  AwaitAnnouncement();
  ends_.outer.Reset();
  EXPECT_EQ(stage->Finish().status, kRefusedStatus);
  EXPECT_FALSE(Exists("ran"));
}

// The end of the output shows that no process is left.
TEST_F(LifelineTest, EndsEverythingWhenItIsCut) {
  const auto stage = Start("trap '' TERM HUP IO; setsid sh -c 'echo up; exec sleep 1000' & wait; sleep 1000");
  AwaitAnnouncement();
  SendGo(ends_.outer.get());
  stage->AwaitOutput("up\n");
  ends_.outer.Reset();
  EXPECT_EQ(stage->Finish().status, 128 + SIGKILL);
}

TEST_F(LifelineTest, CannotBeReachedFromInside) {
  const auto stage = Start("kill -IO 1; ls /proc/$$/fd; exit 5");
  AwaitAnnouncement();
  SendGo(ends_.outer.get());
  const Outcome outcome = stage->Finish();
  EXPECT_EQ(outcome.out, "0\n1\n2\n");
  EXPECT_EQ(outcome.status, 5);
}

TEST_F(LifelineTest, IsSilentWhenNobodyIsInside) {
  ends_.inner.Reset();
  EXPECT_FALSE(ReceiveAnnouncement(ends_.outer.get()).is_open());
}

}  // namespace
}  // namespace holdfast::sandbox
