// Tests of `holdfast run -t` and `holdfast attach` in a real terminal, which tmux provides: what is typed, and what the
// screen shows.
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_fixture.h"
#include "support/eventually.h"
#include "support/required_program.h"

namespace holdfast::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A terminal with a shell in it, whose prompt is `local> `.
class TerminalRunTest : public ServedCommandFixture {
 protected:
  void SetUp() override {
    if (!support::RequireProgram("tmux")) return;
    const std::vector<std::string> shell = Bash("exec env 'PS1=local> ' bash --norc --noprofile");
    std::vector<std::string> words = {"-f", "/dev/null", "new-session", "-d",        "-x",         "90",
                                      "-y", "25",        "env",         "HISTFILE=", "TERM=screen"};
    words.insert(words.end(), shell.begin() + 1, shell.end());
    Tmux(words);
    AwaitLine("local>");
  }
  void TearDown() override { Tmux({"kill-server"}); }

  std::string Tmux(std::vector<std::string> words) const {
    words.insert(words.begin(), {"env", "-u", "TMUX", "tmux", "-S", Path("tmux.sock")});
    return support::Program(words).Finish().out;
  }

  void Press(const std::string& key) const { Tmux({"send-keys", key}); }
  void Type(const std::string& text) const {
    Tmux({"send-keys", "-l", text});
    Press("Enter");
  }

  std::string Screen() const { return Tmux({"capture-pane", "-p"}); }
  // Waits until the screen has this text.
  void Await(const std::string& text) const {
    EXPECT_TRUE(support::Eventually([&] { return Screen().contains(text); })) << text << " is not in\n" << Screen();
  }
  // Waits until the last line of the screen that is not empty is this one.
  void AwaitLine(const std::string& line) const {
    const auto last_line = [&] {
      std::string screen = Screen();
      screen.erase(screen.find_last_not_of(" \n") + 1);
      return screen.substr(screen.rfind('\n') + 1);
    };
    EXPECT_TRUE(support::Eventually([&] { return last_line() == line; })) << line << " does not end\n" << Screen();
  }

  // Opens a shell on the server, whose prompt is `remote> `.
  void OpenRemoteShell() const {
    Type("holdfast run -t --name sh -e PS1='remote> ' bash --norc --noprofile");
    AwaitLine("remote>");
  }
};

TEST_F(TerminalRunTest, TheCommandHasATerminalOfTheSameSize) {
  OpenRemoteShell();
  Type("stty size; tty");
  Await("\n25 90\n/dev/pts/");
  Tmux({"resize-window", "-x", "71", "-y", "20"});
  EXPECT_TRUE(support::Eventually([&] {
    Type("clear; stty size");
    return Screen().contains("20 71");
  }));
}

TEST_F(TerminalRunTest, ControlKeysGoToTheCommand) {
  OpenRemoteShell();
  Type("sleep 1000");
  Press("C-c");
  AwaitLine("remote>");
  Type("echo status $?");
  Await("\nstatus 130\n");
  Type("sleep 1001");
  Press("C-z");
  Await("Stopped                 sleep 1001");
  Type("kill -9 %1; wait; echo done");
  Await("\ndone\n");
  Press("C-d");
  AwaitLine("local>");
}

TEST_F(TerminalRunTest, TheTerminalIsAsBeforeAtTheEndAndTheStatusIsTheCommands) {
  Type(
      "stty -g > before; holdfast run -t bash --norc -c 'exit 6'; echo status $?; stty -g > after; cmp before after && "
      "echo same");
  Await("\nstatus 6\n");
  Await("\nsame\n");
}

TEST_F(TerminalRunTest, TheTerminalIsAsBeforeAfterASignal) {
  Type(
      "stty -g > before; holdfast run -t sh -c 'kill -TERM $PPID; echo $$ > pid; sleep 1000'; stty -g > after; cmp "
      "before after && echo same");
  EXPECT_TRUE(support::Eventually([&] { return Content("pid").ends_with('\n'); }));
  Output("kill -TERM $(pgrep -f 'holdfast run -t sh -c kil[l]')");
  Await("\nsame\n");
}

TEST_F(TerminalRunTest, DetachesAndComesBack) {
  OpenRemoteShell();
  Type("X=kept");
  Press("C-]");
  Press("d");
  Await("holdfast run: detached; `holdfast attach sh` comes back");
  AwaitLine("local>");
  EXPECT_THAT(Output("holdfast ps"), HasSubstr("sh    running"));
  Type("clear; holdfast attach --new sh");
  Type("echo $X$((1+1))");
  Await("\nkept2\n");
  Type("exit 3");
  AwaitLine("local>");
  Type("echo status $?");
  Await("\nstatus 3\n");
}

TEST_F(TerminalRunTest, StopsByTheEscapeKeyWhileTheCommandGoesOn) {
  OpenRemoteShell();
  Press("C-]");
  Press("z");
  Await("Stopped                 holdfast run -t");
  Type("stty -a | grep -o ' icanon'");
  Await("\n icanon\n");
  Type("fg");
  Type("echo $((6*7))");
  Await("\n42\n");
}

TEST_F(TerminalRunTest, RunsAProgramOnTheWholeScreen) {
  if (!support::RequireProgram("less")) return;
  Output("seq -f 'line %g' 500 > lines");
  Type("holdfast run -t less lines");
  Await("line 24\n");
  Press("G");
  Await("line 500\n");
  Press("q");
  AwaitLine("local>");
}

TEST_F(TerminalRunTest, AnEditorIsDrawnAgainAfterAttaching) {
  if (!support::RequireProgram("vim")) return;
  Type("holdfast run -t --name ed vim -u NONE -N note");
  Await("\n~\n");
  Tmux({"send-keys", "-l", "ihello from vim"});
  Press("Escape");
  Await("hello from vim");
  Press("C-]");
  Press("d");
  Await("detached");
  Type("clear");
  EXPECT_TRUE(support::Eventually([&] { return !Screen().contains("hello from vim"); }));
  Type("holdfast attach ed");
  Await("hello from vim\n~\n");
  Type(":wq");
  EXPECT_TRUE(support::Eventually([&] { return Content("note") == "hello from vim\n"; }));
}

TEST_F(TerminalRunTest, CtrlCAndCtrlZWorkWithoutATerminalForTheCommand) {
  Type("holdfast run sh -c 'trap \"echo interrupted; exit 7\" INT; echo ready; while :; do sleep 0.01; done'");
  Await("\nready\n");
  Press("C-z");
  Await("Stopped                 holdfast run sh");
  Type("fg");
  Press("C-c");
  Await("interrupted\n");
  Type("echo status $?");
  Await("\nstatus 7\n");
}

TEST_F(TerminalRunTest, ABackgroundRunDoesNotTakeTheInputOfTheShell) {
  Type("holdfast run sh -c 'while [ ! -e go ]; do sleep 0.01; done; echo finished' &");
  Type("echo typed $((2+2))");
  Await("\ntyped 4\n");
  Type("touch go; wait");
  Await("finished\n");
  EXPECT_THAT(Screen(), Not(HasSubstr("Stopped")));
}

// The kernel refuses changes of the terminal to a process group in the background that no shell looks after any more.
TEST_F(TerminalRunTest, TellsThatTheTerminalCannotBeChanged) {
  Type(
      "((until [ -e go ]; do sleep 0.01; done; holdfast run -t cat < /dev/tty 2> err; echo status $? > status) &); "
      "touch go");
  EXPECT_TRUE(support::Eventually([&] { return Content("status") == "status 125\n"; })) << Content("status");
  EXPECT_EQ(Content("err"), "holdfast run: tcsetattr: Input/output error\n");
}

TEST_F(TerminalRunTest, ShowsTheProgressOfACopyAndRemovesIt) {
  Output("head -c 40000000 /dev/zero > big");
  Type("clear; holdfast cp big :copy; echo copied");
  Await("of 38.1 MiB");
  Await("copied\n");
  EXPECT_THAT(Screen(), Not(HasSubstr("38.1 MiB")));
}

// The question takes a whole line, also when the keys go to the command otherwise. Output of the command may come
// between the question and the answer.
TEST_F(TerminalRunTest, AsksTheUserWhatTheRulesLeaveOpen) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\", justification=\"Look!\")\n");
  Type("holdfast run -t --rules r.rules -e PS1='remote> ' bash --norc --noprofile");
  AwaitLine("remote>");
  Type("/usr/bin/id -u");
  Await("Allow it? [y/N]");
  EXPECT_THAT(Screen(), AllOf(HasSubstr("outside of the sandbox,"), HasSubstr("/usr/bin/id -u"), HasSubstr("Look!")));
  Type("y");
  Await(fmt::format("\n{}\n", ::geteuid()));
  for (const char* key : {"Enter", "C-c"}) {
    AwaitLine("remote>");
    Type("clear");
    EXPECT_TRUE(support::Eventually([&] { return !Screen().contains("Allow it?"); }));
    Type("/usr/bin/id -u; echo status $?");
    Await("Allow it? [y/N]");
    Press(key);
    Await("status 1");
    EXPECT_THAT(Screen(), HasSubstr("Execution denied: User declined execution"));
  }
}

TEST_F(TerminalRunTest, AsksTheUserOfACommandWithPipes) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\")\n");
  Type("clear; holdfast run --rules r.rules sh -c '/usr/bin/id -u; cat' | tr 0-9 x");
  Await("Allow it? [y/N]");
  Type("yes");
  Await("\nx");
  Type("typed");
  Await("typed\ntyped");
  Press("C-d");
  AwaitLine("local>");
}

}  // namespace
}  // namespace holdfast::cli
