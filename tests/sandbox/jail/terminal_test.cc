#include "sandbox/jail/terminal.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/jail/inner_stage_fixture.h"
#include "sandbox/jail/lifeline.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "sys/pty.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;

constexpr std::string_view kCtrlC = "\x03", kCtrlZ = "\x1a";

// The tests run an inner stage on a terminal. Between the stage and the test is a session leader that behaves like the
// outer stage of a server's command, or like a shell with job control.
class TerminalTest : public InnerStageFixture {
 protected:
  void SetUp() override {
    InnerStageFixture::SetUp();
    if (IsSkipped()) return;
    auto pty = sys::OpenPty({});
    ASSERT_TRUE(pty);
    pty_ = std::move(*pty);
    ASSERT_TRUE(sys::SetBlocking(pty_.master.get(), sys::Blocking::kYes));
  }
  void TearDown() override {
    if (leader_ > 0) ::kill(leader_, SIGKILL);
    if (leader_ > 0) ::waitpid(leader_, nullptr, 0);
  }

  // Runs `life` as the leader of a session on the terminal, which is its standard streams. `life` returns its exit
  // status.
  void StartLeader(const std::function<int()>& life) {
    leader_ = ::fork();
    if (leader_ != 0) return pty_.slave.Reset();
    ::setsid();
    ::ioctl(pty_.slave.get(), TIOCSCTTY, 0);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(pty_.slave.get(), fd);
    pty_.slave.Reset();
    pty_.master.Reset();
    ::_exit(life());
  }

  // Runs an inner stage and waits for its end, as the outer stage does.
  static int FollowStage(const InnerOrders& orders) {
    return StatusOf(CloneFirstProcess([&] { return RunInnerStage(orders); }));
  }
  void StartOnTerminal(const InnerOrders& orders) {
    StartLeader([&] { return FollowStage(orders); });
  }

  void Type(std::string_view keys) { EXPECT_EQ(sys::Write(pty_.master.get(), keys.data(), keys.size()), keys.size()); }
  void Await(std::string_view text) {
    seen_ += ReadUntil(pty_.master.get(), [&](std::string_view got) { return got.contains(text); });
    EXPECT_THAT(seen_, HasSubstr(text));
  }
  int Finish() {
    seen_ += ReadAll(pty_.master.get());
    if (leader_ > 0 && HasFailure()) ::kill(leader_, SIGKILL);  // the leader may wait for ever
    return StatusOf(std::exchange(leader_, -1));
  }

  sys::Pty pty_;
  pid_t leader_ = -1;
  std::string seen_;
};

TEST_F(TerminalTest, IsThereForTheCommand) {
  StartOnTerminal(Script("[ -t 0 ] && echo via-tty > /dev/tty && stty size < /dev/tty"));
  EXPECT_EQ(Finish(), 0);
  EXPECT_THAT(seen_, HasSubstr("via-tty\r\n24 80\r\n"));
}

TEST_F(TerminalTest, IsTheCommandsTurn) {
  StartOnTerminal(
      Script("read -r pid name state parent group session tty turn rest < /proc/self/stat;"
             "[ $group -eq $$ ] && [ $turn -eq $$ ] && exit 5"));
  EXPECT_EQ(Finish(), 5);
}

TEST_F(TerminalTest, CannotBeFoundByACommandThatHasNone) {
  InnerOrders orders = Script("if sh -c ': < /dev/tty'; then exit 4; else exit 5; fi");
  StartLeader([&] {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(::open("/dev/null", O_RDWR | O_CLOEXEC), fd);
    }
    return FollowStage(orders);
  });
  EXPECT_EQ(Finish(), 5);
}

TEST_F(TerminalTest, CtrlCReachesTheCommand) {
  StartOnTerminal(Script("trap 'exit 8' INT; echo up; while :; do sleep 0.01; done"));
  Await("up");
  Type(kCtrlC);
  EXPECT_EQ(Finish(), 8);
}

TEST_F(TerminalTest, AShellHasJobControl) {
  StartOnTerminal(Orders({"bash", "--norc", "--noprofile", "-i"}));
  Type("sh -c 'echo u\"\"p; exec sleep 1000'\n");
  Await("up\r\n");
  Type(kCtrlZ);
  Await("Stopped");
  Type("kill -KILL %1; exec sh -c 'exit 6'\n");
  EXPECT_EQ(Finish(), 6);
  EXPECT_THAT(seen_, testing::Not(HasSubstr("no job control")));
}

// Without a sandbox the command would be the leader of the session, which a terminal does not stop.
TEST_F(TerminalTest, CtrlZHasNoEffectWhereNobodyCouldContinue) {
  StartOnTerminal(Script("echo up; read line; [ \"$line\" = go ] && exit 5"));
  Await("up");
  Type(kCtrlZ);
  Await("^Z");
  Type("go\n");
  EXPECT_EQ(Finish(), 5);
}

// Starts a job as a shell does: in a process group of its own, in the foreground.
pid_t StartJob(const InnerOrders& orders) {
  const pid_t job = ::fork();
  if (job == 0) {
    ::setpgid(0, 0);
    ::signal(SIGTTOU, SIG_IGN);
    ::tcsetpgrp(STDIN_FILENO, ::getpid());
    ::signal(SIGTTOU, SIG_DFL);
    ::_exit(StatusOf(CloneFirstProcess([&] { return RunInnerStage(orders); })));
  }
  ::setpgid(job, job);
  return job;
}

// Waits until the whole job has stopped, and gives the terminal back to the shell.
bool AwaitStop(pid_t job) {
  int status = 0;
  const bool stopped = ::waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status);
  ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  return stopped;
}

TEST_F(TerminalTest, CtrlZStopsTheJobAndTheShellContinuesIt) {
  StartLeader([&] {
    ::signal(SIGTTOU, SIG_IGN);
    const pid_t job = StartJob(Script("echo up; read line; [ \"$line\" = go ] && exit 5"));
    if (!AwaitStop(job)) return 100;
    (void)!::write(STDOUT_FILENO, "stopped\n", 8);
    ::tcsetpgrp(STDIN_FILENO, job);
    ::kill(-job, SIGCONT);
    return StatusOf(job);
  });
  Await("up");
  Type(kCtrlZ);
  Await("stopped");
  Type("go\n");
  EXPECT_EQ(Finish(), 5);
}

TEST_F(TerminalTest, AJobInTheBackgroundDoesNotTakeItsTurn) {
  StartLeader([&] {
    ::signal(SIGTTOU, SIG_IGN);
    const pid_t job = StartJob(Script("echo up; read line; [ \"$line\" = go ] && exit 5"));
    if (!AwaitStop(job)) return 100;
    ::kill(-job, SIGCONT);  // the job reads, and is stopped again
    if (!AwaitStop(job)) return 101;
    if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return 102;
    (void)!::write(STDOUT_FILENO, "again\n", 6);
    ::tcsetpgrp(STDIN_FILENO, job);
    ::kill(-job, SIGCONT);
    return StatusOf(job);
  });
  Await("up");
  Type(kCtrlZ);
  Await("again");
  Type("go\n");
  EXPECT_EQ(Finish(), 5);
}

// A server signals the process group of the helper: the outer stage, which asks pid 1 to pass the signal on, and pid 1.
TEST_F(TerminalTest, ASignalForTheCallersGroupIsNoOrder) {
  InnerOrders orders = Script("trap 'echo user1' USR1; trap 'exit 7' USR2; echo up; while :; do sleep 0.01; done");
  const LifelineEnds ends = *MakeLifeline();
  SendGo(ends.outer.get());
  orders.lifeline_fd = ends.inner.get();
  StartOnTerminal(orders);
  Await("up");
  const auto children = support::ChildrenOf(leader_);
  ASSERT_EQ(children.size(), 1u);
  ::kill(children[0], SIGUSR1);
  EXPECT_TRUE(SendSignalFor(ends.outer.get(), SIGUSR2));
  EXPECT_EQ(Finish(), 7);
  EXPECT_THAT(seen_, testing::Not(HasSubstr("user1")));
}

TEST_F(TerminalTest, KnowsWhoseTurnItIs) {
  StartLeader([] {
    const auto terminal = Terminal::OfStreams();
    if (!terminal || !terminal->InForeground() || terminal->foreground_group() != ::getpid()) return 100;
    const pid_t other = ::fork();
    if (other == 0) {
      ::setpgid(0, 0);
      const bool before = terminal->InForeground();
      terminal->GiveTo(::getpid());
      ::_exit(!before && terminal->InForeground() ? 5 : 101);
    }
    return StatusOf(other);
  });
  EXPECT_EQ(Finish(), 5);
}

}  // namespace
}  // namespace holdfast::sandbox
