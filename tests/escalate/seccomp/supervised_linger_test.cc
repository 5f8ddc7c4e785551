// A supervised command can have sockets whose last close blocks, and the supervisor takes over its descriptors. The
// tests see to it that the copies of this process are the last ones.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "escalate/seccomp/supervised_fixture.h"
#include "support/eventually.h"
#include "support/lingering_peer.h"
#include "support/loop_runner.h"
#include "support/proc.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Judgement;
using support::kPromptness;
using support::TimeOf;

constexpr size_t kCopies = 100;

// A child that is forked has copies of the sockets, and its close would be the last one. So every process of a test is
// started before the supervisor takes any socket.
class SupervisedLingerTest : public SupervisedFixture {
 protected:
  SupervisedLingerTest() {
    Escalate("env");
    EXPECT_EQ(::mkfifo(go_.c_str(), 0600), 0);
  }
  ~SupervisedLingerTest() override { other_supervision_.reset(); }

  // A command that is taken outside together with its sockets.
  Words Lingering(size_t copies = kCopies) const {
    return {CallerProgram(), "linger", std::to_string(peer_.port()), std::to_string(copies), "/usr/bin/env", "true"};
  }

  // Starts another tree, which waits.
  void StartAnotherTree() {
    other_ = Start({"/bin/sh", "-c", "read line < " + go_ + "; exec /usr/bin/env sh -c 'exit 3'"});
    EXPECT_TRUE(RunLoopUntil([&] { return judged("sh") > 0; }));
    other_supervision_ = std::move(supervision_);
  }

  // The other tree escalates, and soon.
  void ExpectTheOtherTreeGoesOn() {
    const auto escalate = [&] {
      const OwnedFd go(::open(go_.c_str(), O_RDWR | O_CLOEXEC));
      EXPECT_EQ(::write(go.get(), "\n", 1), 1);
      EXPECT_TRUE(RunLoopUntil([&] { return other_->HasEnded(); }));
    };
    EXPECT_LT(TimeOf(escalate), kPromptness);
    EXPECT_EQ(other_->outcome().status, 3);
  }

  // Waits, without running the loop, until the supervisor has taken that many descriptors.
  static bool AwaitTaken(size_t before, size_t count = kCopies) {
    return support::Eventually([&] { return support::CountFds(::getpid()) >= before + count; });
  }

  static void Kill(RunningCommand& command) {
    ::kill(command.pid(), SIGKILL);
    EXPECT_TRUE(support::Eventually([&] { return command.HasEnded(); }));
  }

  // Ends the supervision, which waits for nothing, and sees that nothing is left.
  void ExpectAPromptEnd(size_t fds_before) {
    EXPECT_LT(TimeOf([&] { supervision_.reset(); }), kPromptness);
    EXPECT_LT(TimeOf([&] { support::RunReady(loop_); }), kPromptness);
    other_supervision_.reset();
    EXPECT_TRUE(RunLoopUntil([&] { return support::CountFds(::getpid()) <= fds_before; }));
  }

  support::LingeringPeer peer_;
  const std::string go_ = scratch_.path() + "/go";
  std::unique_ptr<RunningCommand> other_;
  std::unique_ptr<Supervision> other_supervision_;
};

TEST_F(SupervisedLingerTest, TheCommandOutsideGetsTheSockets) {
  Words words = Lingering(2);
  words.back() = "sh";
  words.insert(words.end(), {"-c", "for fd in /proc/$$/fd/*; do readlink $fd; done | grep -c socket"});
  const CommandOutcome outcome = Run(words);
  EXPECT_EQ(outcome.out, "4\n") << outcome.err;
}

TEST_F(SupervisedLingerTest, TheEndOfTheSupervisionDoesNotWaitForTakenSockets) {
  const size_t at_first = support::CountFds(::getpid());
  StartAnotherTree();
  const size_t before = support::CountFds(::getpid());
  const auto command = Start(Lingering());
  ASSERT_TRUE(AwaitTaken(before));
  Kill(*command);
  EXPECT_LT(TimeOf([&] { supervision_.reset(); }), kPromptness);
  EXPECT_LT(TimeOf([&] { support::RunReady(loop_); }), kPromptness);
  ExpectTheOtherTreeGoesOn();
  ExpectAPromptEnd(at_first + 8);
}

TEST_F(SupervisedLingerTest, AFailedStartDoesNotWaitForTakenSockets) {
  StartAnotherTree();
  std::unique_ptr<RunningCommand> command;
  size_t passed = 0;
  StartOutside start = [&](OutsideOrder order, OutsideObserver&) -> Result<std::unique_ptr<OutsideCommand>> {
    passed = order.fds.size();
    Kill(*command);
    return Fail(ErrorKind::kSystem, "refused");
  };
  const auto judge = [](const exec_policy::ExecAttempt& attempt) -> Judgement {
    if (attempt.file == "/usr/bin/env") return {.action = exec_policy::Action::kEscalate};
    return {};
  };
  auto supervision = Supervision::Create(loop_, approver_, std::move(start), {.judge = judge});
  ASSERT_TRUE(supervision) << supervision.error().message;
  supervision_ = *std::move(supervision);
  command = std::make_unique<RunningCommand>(Lingering(), supervision_->helper_socket()->get(), environment_);
  EXPECT_LT(TimeOf([&] { EXPECT_TRUE(RunLoopUntil([&] { return passed > 0; })); }), support::kLingerTime / 2);
  EXPECT_GT(passed, kCopies);
  ExpectTheOtherTreeGoesOn();
}

// The stub is killed in every stage of the hand-over.
TEST_F(SupervisedLingerTest, TheDeathOfAStubWhoseSocketsAreBeingTakenHoldsUpNothing) {
  const size_t at_first = support::CountFds(::getpid());
  for (size_t part = 1; part <= 8; ++part) {
    StartAnotherTree();
    const size_t before = support::CountFds(::getpid());
    const auto command = Start(Lingering(800));
    EXPECT_TRUE(AwaitTaken(before, part * 100));
    Kill(*command);
    ExpectTheOtherTreeGoesOn();
    ExpectAPromptEnd(at_first + 8);
  }
}

// A judge stands for every call by which the thread may be stuck.
class StuckSupervisorTest : public SupervisedFixture {
 protected:
  ~StuckSupervisorTest() override {
    release_.release(64);
    EXPECT_TRUE(support::Eventually([&] { return judging_ == 0; }));
  }

  SupervisorSettings StuckJudge() {
    return {.judge = [this](const exec_policy::ExecAttempt&) -> Judgement {
      ++judging_;
      (void)release_.try_acquire_for(support::kLingerTime);
      --judging_;
      return {.action = exec_policy::Action::kDeny};
    }};
  }

  // Leaves one more thread behind. Its supervision ends soon.
  void LeaveBehind() {
    const int before = judging_;
    const auto command = Start({"/bin/true"}, StuckJudge());
    EXPECT_TRUE(support::Eventually([&] { return judging_ == before + 1; }));
    EXPECT_LT(TimeOf([&] { supervision_.reset(); }), kPromptness);
  }

  std::atomic<int> judging_ = 0;
  std::counting_semaphore<> release_{0};
};

TEST_F(StuckSupervisorTest, DoesNotHoldUpTheEndOfItsSupervision) {
  LeaveBehind();
  EXPECT_EQ(judging_, 1) << "the thread was not stuck";
}

// The loop has waited for the first one.
TEST_F(StuckSupervisorTest, IsNotWaitedForWhileAnotherOneIsStuck) {
  LeaveBehind();
  std::vector<std::unique_ptr<Supervision>> others;
  std::vector<std::unique_ptr<RunningCommand>> commands;
  for (int i = 2; i <= 20; ++i) {
    commands.push_back(Start({"/bin/true"}, StuckJudge()));
    EXPECT_TRUE(support::Eventually([&] { return judging_ == i; }));
    others.push_back(std::move(supervision_));
  }
  EXPECT_LT(TimeOf([&] { others.clear(); }), std::chrono::seconds(1));  // with waits it would be 1.9 s at least
}

TEST_F(StuckSupervisorTest, CountsAsLongAsItIsStuck) {
  const auto start = [](OutsideOrder, OutsideObserver&) -> Result<std::unique_ptr<OutsideCommand>> {
    return Fail(ErrorKind::kSystem, "refused");
  };
  for (int i = 0; i < 32; ++i) LeaveBehind();
  const auto refused = Supervision::Create(loop_, approver_, start, StuckJudge());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLimit);
  release_.release(32);
  EXPECT_TRUE(
      support::Eventually([&] { return Supervision::Create(loop_, approver_, start, StuckJudge()).has_value(); }));
}

}  // namespace
}  // namespace holdfast::escalate
