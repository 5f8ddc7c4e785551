// The inner stage as the keeper of its command, which the server steers by a control socket.
#include "sandbox/jail/control_socket.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"
#include "support/eventually.h"
#include "support/exec_supervisor.h"
#include "support/proc.h"
#include "sys/pty.h"

namespace holdfast::sandbox {
namespace {

using process::KeeperEvent;
using process::KeeperEventKind;
using process::KeeperInstruction;
using process::KeeperInstructionKind;
using testing::HasSubstr;
using testing::IsEmpty;

class ControlSocketTest : public InnerStageFixture {
 protected:
  ControlSocketTest() {
    if (auto made = sys::MakePacketPair()) pair_ = *std::move(made);
  }

  void Start(InnerOrders orders, const std::function<void()>& prepare = [] {}) {
    orders.control_fd = pair_.theirs.get();
    stage_ = std::make_unique<RunningStage>(orders, prepare);
    pair_.theirs.Reset();
  }
  void Start(std::string script) { Start(Script(std::move(script))); }

  // Starts the script and waits until it prints "up".
  void StartUp(std::string script) {
    Start(std::move(script));
    stage_->AwaitOutput("up\n");
    ASSERT_EQ(NextKind(), KeeperEventKind::kBegun);
    ASSERT_EQ(NextKind(), KeeperEventKind::kStarted);
  }

  // Returns the next event, or nothing at the end of the socket.
  std::optional<KeeperEvent> Next() {
    pollfd ready = {pair_.ours.get(), POLLIN, 0};
    struct {
      KeeperEvent event;
      char text[process::kMaxReasonBytes];
    } packet;
    if (::poll(&ready, 1, static_cast<int>(support::kPatience.count())) <= 0) ADD_FAILURE() << "no event has come";
    // The kernel tells once that pid 1 has ended without reading an instruction. The events come after that.
    ssize_t size;
    do {
      size = sys::Read(pair_.ours.get(), &packet, sizeof packet);
    } while (size == -ECONNRESET);
    if (size < ssize_t{sizeof packet.event}) return std::nullopt;
    const std::string_view text(packet.text, static_cast<size_t>(size) - sizeof packet.event);
    if (packet.event.kind == KeeperEventKind::kStarted) report_ += "started\n";
    if (packet.event.kind == KeeperEventKind::kNotStarted) {
      report_ += fmt::format("failed {} {}\n", packet.event.value, text);
    }
    return packet.event;
  }
  std::optional<KeeperEventKind> NextKind() {
    const auto event = Next();
    return event ? std::optional(event->kind) : std::nullopt;
  }
  // Returns the status in the exit, which follows the answer about the start, or -1 if there is none.
  int AwaitExit() {
    auto event = Next();
    if (event && (event->kind == KeeperEventKind::kStarted || event->kind == KeeperEventKind::kNotStarted))
      event = Next();
    return event && event->kind == KeeperEventKind::kExited ? event->value : -1;
  }

  ssize_t Instruct(KeeperInstructionKind kind, int value = 0) {
    const KeeperInstruction instruction = {kind, value};
    return sys::Write(pair_.ours.get(), &instruction, sizeof instruction);
  }
  ssize_t Signal(int signal) { return Instruct(KeeperInstructionKind::kSignal, signal); }

  const std::string& Report() const { return report_; }

  sys::SocketPair pair_;
  std::string report_;  // what pid 1 has said about the start
  std::unique_ptr<RunningStage> stage_;
};

TEST_F(ControlSocketTest, TellsTheStartAndTheWaitStatus) {
  Start("exit 7");
  EXPECT_EQ(NextKind(), KeeperEventKind::kBegun);
  EXPECT_EQ(AwaitExit(), 7 << 8);
  EXPECT_EQ(Next(), std::nullopt);
  EXPECT_EQ(Report(), "started\n");
}

TEST_F(ControlSocketTest, TellsTheSignalThatEndedTheCommand) {
  Start("kill -SEGV $$");
  EXPECT_EQ(NextKind(), KeeperEventKind::kBegun);
  EXPECT_EQ(AwaitExit() & 0x7f, SIGSEGV);
}

TEST_F(ControlSocketTest, SignalsTheGroupOfTheCommandWithAnySignal) {
  for (const int signal : {SIGTERM, SIGUSR1, SIGURG, SIGPIPE, SIGRTMIN + 3}) {
    auto made = sys::MakePacketPair();
    ASSERT_TRUE(made);
    pair_ = *std::move(made);
    StartUp(fmt::format(
        "trap 'exit 7' {0}; sh -c \"trap 'echo in group; exit' {0}; echo up; while :; do sleep 0.01; done\"; exit 8",
        signal));
    Signal(signal);
    EXPECT_EQ(AwaitExit(), 7 << 8) << signal;
    EXPECT_EQ(stage_->Finish().out, "in group\n") << signal;
  }
}

TEST_F(ControlSocketTest, StopsAndContinuesTheCommand) {
  StartUp("echo up; exec sleep 1000");
  const auto children = support::ChildrenOf(stage_->pid());
  ASSERT_EQ(children.size(), 1u);
  const auto is_stopped = [&] { return support::ReadProcFile(children[0], "stat").value_or("").contains(") T "); };
  Signal(SIGSTOP);
  EXPECT_TRUE(support::Eventually(is_stopped));
  Signal(SIGCONT);
  EXPECT_TRUE(support::Eventually([&] { return !is_stopped(); }));
}

// A server continues pid 1, in case that it has been stopped, before it sends an instruction.
TEST_F(ControlSocketTest, LeavesACommandStoppedThatGetsAnotherSignal) {
  StartUp("echo up; exec sleep 1000");
  const auto children = support::ChildrenOf(stage_->pid());
  ASSERT_EQ(children.size(), 1u);
  const auto state = [&] { return support::ReadProcFile(children[0], "stat").value_or(""); };
  Signal(SIGSTOP);
  EXPECT_TRUE(support::Eventually([&] { return state().contains(") T "); }));
  stage_->Signal(SIGCONT);
  Signal(SIGTERM);
  const auto pending = [&] { return support::ReadProcFile(children[0], "status").value_or(""); };
  EXPECT_TRUE(support::Eventually([&] { return pending().contains("ShdPnd:\t0000000000004000"); })) << pending();
  EXPECT_THAT(state(), HasSubstr(") T "));
  Signal(SIGCONT);
  EXPECT_EQ(AwaitExit(), SIGTERM);
}

TEST_F(ControlSocketTest, KillsEverythingBeforeItTellsTheEnd) {
  StartUp("setsid sh -c 'trap \"\" TERM; sleep 1000' & (setsid sleep 1000 &); echo up; exec sleep 1000");
  ASSERT_TRUE(support::Eventually([&] { return support::DescendantsOf(stage_->pid()).size() >= 4; }));
  Instruct(KeeperInstructionKind::kKill);
  EXPECT_EQ(AwaitExit(), SIGKILL);
  EXPECT_THAT(support::DescendantsOf(stage_->pid()), IsEmpty());
}

TEST_F(ControlSocketTest, KillsWhatTheCommandHasLeftBehindBeforeItTellsTheEnd) {
  Start("for i in 1 2 3 4 5 6 7 8 9; do (setsid sleep 1000 &); done; exit 3");
  EXPECT_EQ(NextKind(), KeeperEventKind::kBegun);
  EXPECT_EQ(AwaitExit(), 3 << 8);
  EXPECT_THAT(support::DescendantsOf(stage_->pid()), IsEmpty());
}

TEST_F(ControlSocketTest, EndsWithTheServer) {
  StartUp("setsid sleep 1000 & echo up; exec sleep 1000");
  pair_.ours.Reset();
  EXPECT_EQ(stage_->Finish().status, 128 + SIGKILL);
}

TEST_F(ControlSocketTest, StartsNothingWithoutAServer) {
  pair_.ours.Reset();
  Start("echo ran");
  const Outcome outcome = stage_->Finish();
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(Report(), "");
}

TEST_F(ControlSocketTest, TakesAMessageThatIsNoInstructionForAKill) {
  StartUp("echo up; exec sleep 1000");
  EXPECT_EQ(sys::Write(pair_.ours.get(), "?", 1), 1);
  EXPECT_EQ(AwaitExit(), SIGKILL);
}

TEST_F(ControlSocketTest, ReportsAProgramThatIsMissing) {
  Start(Orders({"/no/such/program"}));
  EXPECT_EQ(NextKind(), KeeperEventKind::kBegun);
  EXPECT_EQ(AwaitExit(), 127 << 8);
  EXPECT_EQ(Report(), "failed 127 exec /no/such/program: No such file or directory\n");
}

TEST_F(ControlSocketTest, ReportsADirectoryThatIsMissing) {
  InnerOrders orders = Script("echo ran");
  orders.command.cwd = "/no/such/directory";
  Start(std::move(orders));
  EXPECT_EQ(NextKind(), KeeperEventKind::kBegun);
  EXPECT_EQ(AwaitExit(), 1 << 8);
  EXPECT_EQ(Report(), "failed 1 chdir /no/such/directory: No such file or directory\n");
}

TEST_F(ControlSocketTest, TellsTheEndWhileInstructionsKeepComing) {
  StartUp("trap '' USR1; echo up; while ! [ -e end ]; do :; done; exit 5");
  for (int i = 0; i < 1000; ++i) Signal(SIGUSR1);
  scratch_.Write("end", "");
  pollfd event = {pair_.ours.get(), POLLIN, 0};
  while (::poll(&event, 1, 0) == 0) Signal(SIGUSR1);
  EXPECT_EQ(AwaitExit(), 5 << 8);
}

// pid 1 sleeps in poll when it has found that the socket is full. Before that it polls without a wait.
TEST_F(ControlSocketTest, WaitsForAServerThatDoesNotRead) {
  const char filler[1024] = {};
  while (sys::Write(pair_.theirs.get(), filler, sizeof filler) > 0) {
  }
  Start("echo ran; exit 4");
  if (!support::ReadProcFile(stage_->pid(), "syscall")) {
    GTEST_SKIP() << "this user may not see which system call a process waits in";
  }
  char buffer[sizeof filler];
  const std::string poll = fmt::format("{} ", SYS_poll);
  EXPECT_TRUE(support::Eventually(
      [&] { return support::ReadProcFile(stage_->pid(), "syscall").value_or("").starts_with(poll); }));
  while (sys::Read(pair_.ours.get(), buffer, sizeof buffer) == sizeof buffer) {
  }
  // The last read of the loop may have taken the first event.
  if (NextKind() != KeeperEventKind::kExited) EXPECT_EQ(AwaitExit(), 4 << 8);
  EXPECT_EQ(stage_->Finish().out, "ran\n");
}

TEST_F(ControlSocketTest, HasNothingThatTheCommandCouldUse) {
  Start("ls -l /proc/self/fd | grep -c socket:");
  EXPECT_EQ(stage_->Finish().out, "0\n");
}

TEST_F(ControlSocketTest, EndsASupervisedCommandThatWaitsForItsExecution) {
  support::ExecSupervisor supervisor;
  InnerOrders orders = Script("echo ran");
  orders.exec_supervisor_fd = supervisor.helper_end().get();
  Start(std::move(orders));
  supervisor.helper_end().Reset();
  ASSERT_TRUE(supervisor.ReceiveListener());
  supervisor.Confirm();
  EXPECT_EQ(NextKind(), KeeperEventKind::kBegun);
  Instruct(KeeperInstructionKind::kKill);
  EXPECT_EQ(AwaitExit(), SIGKILL);
  const Outcome outcome = stage_->Finish();
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(Report(), "");
}

// pid 1 leads the session of the terminal, so the kernel tells it alone that the terminal has hung up.
TEST_F(ControlSocketTest, TellsTheCommandThatItsTerminalHasHungUp) {
  auto pty = sys::OpenPty({});
  ASSERT_TRUE(pty);
  Start(Script("trap 'echo hung up > end; exit 6' HUP; echo up > begun; while :; do sleep 0.01; done"), [&] {
    ::setsid();
    ::ioctl(pty->slave.get(), TIOCSCTTY, 0);
    ::dup2(pty->slave.get(), STDIN_FILENO);
  });
  pty->slave.Reset();
  EXPECT_TRUE(support::Eventually([&] { return ::access((scratch_.path() + "/begun").c_str(), F_OK) == 0; }));
  pty->master.Reset();
  EXPECT_EQ(NextKind(), KeeperEventKind::kBegun);
  EXPECT_EQ(AwaitExit(), 6 << 8);
}

}  // namespace
}  // namespace holdfast::sandbox
