#include "process/launched_sandbox.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/loop_runner.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/pidfd.h"

namespace holdfast::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A process that stands for pid 1 of a sandbox. It sleeps until it is killed.
class FirstProcess {
 public:
  FirstProcess() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
    auto pidfd = sys::OpenPidfd(pid_);
    EXPECT_TRUE(pidfd);
    pidfd_ = *std::move(pidfd);
  }
  ~FirstProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  bool HasBeenReaped() const { return ::waitpid(pid_, nullptr, WNOHANG) < 0 && errno == ECHILD; }

 private:
  pid_t pid_;
  OwnedFd pidfd_;
};

class Recorder : public CommandObserver {
 public:
  void OnStarted(pid_t pid) override { events.push_back(fmt::format("begun {}", pid)); }
  void OnStartFailed(StartStep, int) override { events.emplace_back("failed"); }
  void OnReport(const Result<Enforcement>& outcome) override {
    events.push_back(outcome ? "reported" : "reported: " + outcome.error().message);
  }
  void OnExited(int wait_status) override { events.push_back(fmt::format("exited {}", wait_status)); }
  void OnGone() override { events.emplace_back("gone"); }
  void OnNotLaunched() override {
    events.emplace_back("lost");
    sandbox.reset();
  }

  std::vector<std::string> events;
  std::unique_ptr<LaunchedSandbox> sandbox;
};

// The test is the launcher and pid 1 in one. The kernel therefore adds the pid of the test to the events.
class LaunchedSandboxTest : public testing::Test {
 protected:
  LaunchedSandboxTest() {
    auto control = LaunchedSandbox::MakeControl();
    EXPECT_TRUE(control) << control.error().message;
    control_ = std::move(control->theirs);
    Watch(std::move(control->ours));
  }

  // Watches the sandbox at the other end of a control socket.
  void Watch(OwnedFd control) {
    recorder_.sandbox = std::make_unique<LaunchedSandbox>(loop_, std::move(control), recorder_);
  }

  void Send(KeeperEventKind kind, int value = 0) {
    const KeeperEvent event{.kind = kind, .value = value, .step = StartStep::kNone};
    EXPECT_EQ(::send(control_.get(), &event, sizeof event, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof event));
  }
  void SendNotStarted(int status, std::string_view reason) {
    const KeeperEvent event{.kind = KeeperEventKind::kNotStarted, .value = status, .step = StartStep::kNone};
    const auto packet = std::string(reinterpret_cast<const char*>(&event), sizeof event).append(reason);
    EXPECT_EQ(::send(control_.get(), packet.data(), packet.size(), MSG_NOSIGNAL), static_cast<ssize_t>(packet.size()));
  }
  void SendCloned(const FirstProcess& process) {
    const KeeperEvent event{.kind = KeeperEventKind::kCloned, .value = process.pid(), .step = StartStep::kNone};
    EXPECT_TRUE(sys::SendWithDescriptor(
        control_.get(), std::string_view(reinterpret_cast<const char*>(&event), sizeof event), process.pidfd()));
  }
  KeeperInstruction Receive() {
    KeeperInstruction instruction{.kind = KeeperInstructionKind::kSignal, .value = -1};
    EXPECT_EQ(sys::Read(control_.get(), &instruction, sizeof instruction), static_cast<ssize_t>(sizeof instruction));
    return instruction;
  }

  bool RunUntilEvents(size_t count) {
    return support::RunUntil(loop_, [&] { return recorder_.events.size() >= count; });
  }
  bool RunUntilGone() {
    return support::RunUntil(loop_, [&] { return !recorder_.events.empty() && recorder_.events.back() == "gone"; });
  }
  static std::string Begun() { return fmt::format("begun {}", ::getpid()); }

  loop::EventLoop loop_;
  OwnedFd control_;
  Recorder recorder_;
};

// A launcher may be quicker than the server, which makes the object after it has sent its request.
TEST_F(LaunchedSandboxTest, KnowsThePidOfACommandThatHasBegunBefore) {
  auto control = LaunchedSandbox::MakeControl();
  ASSERT_TRUE(control) << control.error().message;
  control_ = std::move(control->theirs);
  Send(KeeperEventKind::kBegun);
  Watch(std::move(control->ours));
  ASSERT_TRUE(RunUntilEvents(1));
  EXPECT_THAT(recorder_.events, ElementsAre(Begun()));
}

TEST_F(LaunchedSandboxTest, TellsOfTheStartTheReportTheExitAndTheEnd) {
  auto first = std::make_unique<FirstProcess>();
  SendCloned(*first);
  Send(KeeperEventKind::kBegun);
  Send(KeeperEventKind::kStarted);
  ASSERT_TRUE(RunUntilEvents(2));
  Send(KeeperEventKind::kExited, 0x300);
  ASSERT_TRUE(RunUntilEvents(3));
  control_.Reset();
  support::RunReady(loop_);
  EXPECT_THAT(recorder_.events, ElementsAre(Begun(), "reported", "exited 768"));
  ::kill(first->pid(), SIGKILL);
  ASSERT_TRUE(RunUntilEvents(4));
  EXPECT_EQ(recorder_.events.back(), "gone");
}

TEST_F(LaunchedSandboxTest, TellsOfTheReportBeforeTheExit) {
  const FirstProcess first;
  SendCloned(first);
  Send(KeeperEventKind::kBegun);
  Send(KeeperEventKind::kStarted);
  Send(KeeperEventKind::kExited, 0);
  ASSERT_TRUE(RunUntilEvents(3));
  EXPECT_THAT(recorder_.events, ElementsAre(Begun(), "reported", "exited 0"));
}

TEST_F(LaunchedSandboxTest, ReportsACommandThatEndsWithoutAWordAboutItsStart) {
  const FirstProcess first;
  SendCloned(first);
  Send(KeeperEventKind::kBegun);
  Send(KeeperEventKind::kExited, 9);
  ASSERT_TRUE(RunUntilEvents(3));
  EXPECT_THAT(recorder_.events,
              ElementsAre(Begun(), "reported: pid 1 of the sandbox ended before the command was started", "exited 9"));
}

TEST_F(LaunchedSandboxTest, IsLostWhenTheSocketEndsBeforeTheStart) {
  control_.Reset();
  ASSERT_TRUE(RunUntilEvents(1));
  EXPECT_THAT(recorder_.events, ElementsAre("lost"));
}

TEST_F(LaunchedSandboxTest, IsLostWhenPid1EndsBeforeTheStartWhateverItHasReported) {
  {
    const FirstProcess first;
    SendCloned(first);
  }
  SendNotStarted(1, "the reason");
  control_.Reset();
  ASSERT_TRUE(RunUntilEvents(1));
  EXPECT_THAT(recorder_.events, ElementsAre("lost"));
}

TEST_F(LaunchedSandboxTest, IsGoneWithoutAnExitWhenPid1IsKilled) {
  auto first = std::make_unique<FirstProcess>();
  SendCloned(*first);
  Send(KeeperEventKind::kBegun);
  Send(KeeperEventKind::kStarted);
  ASSERT_TRUE(RunUntilEvents(2));
  control_.Reset();
  ::kill(first->pid(), SIGKILL);
  ASSERT_TRUE(RunUntilEvents(3));
  EXPECT_THAT(recorder_.events, ElementsAre(Begun(), "reported", "gone"));
}

// In this test, as after the deaths of the launcher and its keeper, pid 1 is a child of this process.
TEST_F(LaunchedSandboxTest, ReapsAPid1ThatHasBecomeAChild) {
  const FirstProcess first;
  SendCloned(first);
  Send(KeeperEventKind::kBegun);
  control_.Reset();
  ::kill(first.pid(), SIGKILL);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_TRUE(first.HasBeenReaped());
}

TEST_F(LaunchedSandboxTest, ReportsTheFailureOfAPid1ThatEndsAfterTheStart) {
  {
    const FirstProcess first;
    SendCloned(first);
  }
  Send(KeeperEventKind::kBegun);
  SendNotStarted(127, "no such program");
  control_.Reset();
  ASSERT_TRUE(RunUntilEvents(3));
  EXPECT_THAT(recorder_.events, ElementsAre(Begun(), "reported: no such program", "gone"));
}

// A launcher that is killed right after it has made pid 1 sends no pidfd.
TEST_F(LaunchedSandboxTest, FindsAPid1WhoseLauncherHasNotSentIt) {
  const pid_t child = ::fork();
  if (child == 0) {
    Send(KeeperEventKind::kBegun);
    for (;;) ::pause();
  }
  ASSERT_TRUE(RunUntilEvents(1));
  EXPECT_THAT(recorder_.events, ElementsAre(fmt::format("begun {}", child)));
  recorder_.sandbox->KillAll();
  ASSERT_TRUE(
      support::RunUntil(loop_, [&] { return ::kill(child, 0) < 0 || sys::HasEnded(sys::OpenPidfd(child)->get()); }));
  control_.Reset();
  ASSERT_TRUE(RunUntilGone());
}

TEST_F(LaunchedSandboxTest, PassesSignalsOn) {
  recorder_.sandbox->Signal(SIGTERM);
  const KeeperInstruction instruction = Receive();
  EXPECT_EQ(instruction.kind, KeeperInstructionKind::kSignal);
  EXPECT_EQ(instruction.value, SIGTERM);
}

TEST_F(LaunchedSandboxTest, AsksPid1ToKillEverythingAndKillsItIfItDoesNot) {
  const FirstProcess first;
  SendCloned(first);
  Send(KeeperEventKind::kBegun);
  ASSERT_TRUE(RunUntilEvents(1));
  recorder_.sandbox->KillAll();
  EXPECT_EQ(Receive().kind, KeeperInstructionKind::kKill);
  EXPECT_FALSE(sys::HasEnded(first.pidfd()));
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return sys::HasEnded(first.pidfd()); }));
}

TEST_F(LaunchedSandboxTest, GivesUpOnALauncherThatDoesNotAnswerAKill) {
  recorder_.sandbox->KillAll();
  support::RunReady(loop_);
  EXPECT_THAT(recorder_.events, IsEmpty());
  ASSERT_TRUE(RunUntilEvents(1));
  EXPECT_THAT(recorder_.events, ElementsAre("lost"));
  // A pid 1 that is made later finds the kill, and then the end of the socket.
  EXPECT_EQ(Receive().kind, KeeperInstructionKind::kKill);
  char byte;
  EXPECT_EQ(sys::Read(control_.get(), &byte, 1), 0);
}

// A process that speaks no protocol of ours must not go on.
TEST_F(LaunchedSandboxTest, EndsAPid1ThatSendsNoEvents) {
  const FirstProcess first;
  SendCloned(first);
  Send(KeeperEventKind::kBegun);
  EXPECT_EQ(::send(control_.get(), "x", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(RunUntilEvents(2));
  char byte;
  EXPECT_EQ(sys::Read(control_.get(), &byte, 1), 0);
}

}  // namespace
}  // namespace holdfast::process
