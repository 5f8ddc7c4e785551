// A command of a jail on a terminal. No keeper has made the terminal the controlling one, so pid 1 does.
#include <sys/ioctl.h>
#include <termios.h>

#include "sandbox/native/jail_fixture.h"
#include "support/proc.h"
#include "sys/pty.h"

namespace holdfast::sandbox {
namespace {

using testing::HasSubstr;

constexpr std::string_view kCtrlC = "\x03", kCtrlZ = "\x1a", kCtrlD = "\x04";

class JailProcessTerminalTest : public JailFixture {
 protected:
  // Starts the program on a new terminal, of which `out` is the master.
  Launched StartOnTerminal(std::vector<std::string> argv) {
    auto pty = sys::OpenPty({.rows = 24, .cols = 80});
    EXPECT_TRUE(pty);
    RunCommand entry = EntryFor(std::move(argv));
    entry.environment.push_back("PS1=ready> ");
    entry.environment.push_back("TERM=dumb");
    Launched launched = Request(std::move(entry), pty->slave.get());
    launched.out = std::move(pty->master);
    return launched;
  }
  Launched StartShell() { return StartOnTerminal({"/bin/bash", "--norc", "--noediting", "-i"}); }

  static void Type(const Launched& launched, std::string_view keys) {
    EXPECT_EQ(sys::Write(launched.out.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
};

INSTANTIATE_TEST_SUITE_P(Users, JailProcessTerminalTest, testing::ValuesIn(UsersOfJails()), NameOfUser);

TEST_P(JailProcessTerminalTest, HasAControllingTerminal) {
  Launched launched = StartOnTerminal({"/bin/bash", "-c", "tty; echo to the terminal > /dev/tty"});
  launched.AwaitOutput("/dev/console");
  launched.AwaitOutput("to the terminal");
  EXPECT_EQ(launched.AwaitExit(), 0);
}

TEST_P(JailProcessTerminalTest, EndsAProgramByCtrlC) {
  Launched launched = StartOnTerminal({"/bin/bash", "-c", "echo up; exec sleep 1000"});
  launched.AwaitOutput("up");
  Type(launched, kCtrlC);
  EXPECT_EQ(launched.AwaitExit(), SIGINT);
}

TEST_P(JailProcessTerminalTest, HasJobControl) {
  Launched launched = StartShell();
  launched.AwaitOutput("ready> ");
  const pid_t shell = ::tcgetpgrp(launched.out.get());
  Type(launched, "sh -c 'echo up$((1 + 1)); exec sleep 1000'\n");
  launched.AwaitOutput("up2");
  Type(launched, kCtrlZ);
  launched.AwaitOutput("Stopped");
  launched.AwaitOutput("ready> ");
  Type(launched, "bg; echo in the back$((1 + 1)); fg\n");
  launched.AwaitOutput("in the back2");
  launched.AwaitOutput("exec sleep 1000");
  EXPECT_TRUE(support::Eventually([&] { return ::tcgetpgrp(launched.out.get()) != shell; }));
  Type(launched, kCtrlC);
  launched.AwaitOutput("ready> ");
  Type(launched, "exit 5\n");
  EXPECT_EQ(launched.AwaitExit(), 5 << 8);
}

// Nothing could continue the command, so the kernel does not stop it for good.
TEST_P(JailProcessTerminalTest, IsNotStoppedByCtrlZWithoutAShell) {
  Launched launched = StartOnTerminal({"/bin/bash", "-c", "echo up; read line; echo got $line"});
  launched.AwaitOutput("up");
  Type(launched, kCtrlZ);
  Type(launched, "text\n");
  launched.AwaitOutput("got text");
  EXPECT_EQ(launched.AwaitExit(), 0);
}

TEST_P(JailProcessTerminalTest, LearnsOfAnotherSize) {
  Launched launched = StartOnTerminal(
      {"/bin/bash", "-c", "trap 'stty size; exit 3' WINCH; stty size; echo up; while :; do sleep 0.01; done"});
  launched.AwaitOutput("24 80");
  launched.AwaitOutput("up");
  ASSERT_TRUE(sys::SetWindowSize(launched.out.get(), {.rows = 30, .cols = 100}));
  launched.AwaitOutput("30 100");
  EXPECT_EQ(launched.AwaitExit(), 3 << 8);
}

TEST_P(JailProcessTerminalTest, EndsTheInputByCtrlD) {
  Launched launched = StartShell();
  launched.AwaitOutput("ready> ");
  Type(launched, kCtrlD);
  EXPECT_EQ(launched.AwaitExit(), 0);
}

TEST_P(JailProcessTerminalTest, PassesSignalsOfTheServerOn) {
  Launched launched = StartOnTerminal({"/bin/bash", "-c", "trap 'exit 6' INT; echo up; while :; do sleep 0.01; done"});
  launched.AwaitOutput("up");
  launched.Signal(SIGINT);
  EXPECT_EQ(launched.AwaitExit(), 6 << 8);
}

TEST_P(JailProcessTerminalTest, TellsTheCommandThatTheTerminalHasHungUp) {
  Launched launched =
      StartOnTerminal({"/bin/bash", "-c", "trap 'exit 6' HUP; echo up; while :; do sleep 0.01; done 2> /dev/null"});
  launched.AwaitOutput("up");
  launched.out.Reset();
  EXPECT_EQ(launched.AwaitExit(), 6 << 8);
}

}  // namespace
}  // namespace holdfast::sandbox
