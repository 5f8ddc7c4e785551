// Tests of `holdfast run -t` and `holdfast attach` in a real terminal, which tmux provides: what is typed, and what the
// screen shows.
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
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

  // Waits for a question, and returns the number that allows the command.
  std::string AwaitQuestion() const {
    constexpr std::string_view kAsks = "| Type ";
    Await(" to allow it, anything else to refuse it:");
    const std::string screen = Screen();
    return screen.substr(screen.find(kAsks) + kAsks.size(), 3);
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

// The process that is left behind keeps the terminal open.
TEST_F(TerminalRunTest, EndsWithTheCommandAlthoughItsTerminalIsHeld) {
  Type("holdfast run -t sh -c 'trap \"\" HUP; sleep 1000 & exit 6'; echo status $?");
  Await("\nstatus 6\n");
}

TEST_F(TerminalRunTest, SaysThatTheConnectionIsLostWhileTheTerminalIsTheCommands) {
  OpenRemoteShell();
  server().Kill();
  Await("\nholdfast run: the connection to the server is lost; trying again\n");
  StartServer();  // it does not know the run
  Await("\nholdfast run: the session is lost: ");
  AwaitLine("local>");
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

// The question takes a whole line, also when the keys go to the command otherwise.
TEST_F(TerminalRunTest, AsksTheUserWhatTheRulesLeaveOpen) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\", justification=\"Look!\")\n");
  Type("holdfast run -t --rules r.rules -e PS1='remote> ' bash --norc --noprofile");
  AwaitLine("remote>");
  Type("/usr/bin/id -u");
  const std::string yes = AwaitQuestion();
  EXPECT_THAT(Screen(), AllOf(HasSubstr("outside of the sandbox,"), HasSubstr("/usr/bin/id -u"), HasSubstr("Look!")));
  Type(yes);
  Await(fmt::format("\n{}\n", ::geteuid()));
  for (const char* key : {"Enter", "C-c"}) {
    AwaitLine("remote>");
    Type("clear");
    EXPECT_TRUE(support::Eventually([&] { return !Screen().contains("allow it"); }));
    Type("/usr/bin/id -u; echo status $?");
    AwaitQuestion();
    Press(key);
    Await("status 1");
    EXPECT_THAT(Screen(), HasSubstr("Execution denied: User declined execution"));
  }
}

TEST_F(TerminalRunTest, AsksTheUserOfACommandWithPipes) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\")\n");
  Type("clear; holdfast run --rules r.rules sh -c '/usr/bin/id -u; cat' | tr 0-9 x");
  Type(AwaitQuestion());
  Await("\nx");
  Type("typed");
  Await("typed\ntyped");
  Press("C-d");
  AwaitLine("local>");
}

// A command that asks for something harmful, hides it in whatever way a terminal offers, and shows a harmless question
// in its place, before the real one and all the time while that is open. What it does to the terminal first may be held
// back too, if the question is faster; so it takes back at the end what would scroll its last words away.
constexpr char kHostile[] = R"(
echo connected; while [ ! -e begin ]; do sleep 0.1; done
fake='\033[2J\033[Hholdfast: the command wants to run\r\n    /usr/bin/true\r\nType y to allow it: '
printf '\033[?1049h\033[3;4r\033[?6h\033[8m\033(0\033[?25l\033[?1000h\033[?2004h\033[4h\033]10;#000000\033\\'
printf "$fake\033]0;trusted"
(n=0
 while [ ! -e go ]; do
   printf "$fake"
   [ -e shown ] && n=$((n + 1))
   [ $n = 300 ] && touch looped
 done
 printf '\033[?6l\033[r\033[2J\033[Hheld back\r\n') &
/usr/bin/id -u > outside; echo status $?; touch go; wait; echo over)";

struct HostileCase {
  const char* name;
  const char* command;  // what starts the run and shows it
};

constexpr HostileCase kHostileCases[] = {
    {"WithATerminal", "holdfast run -t --name hostile --rules r.rules bash hostile"},
    {"WithPipes", "holdfast run --name hostile --rules r.rules bash hostile"},
    {"AttachedWithATerminal",
     "holdfast run -d -t --name hostile --rules r.rules -- bash hostile > name; holdfast attach hostile"},
    {"AttachedWithPipes",
     "holdfast run -d -i --name hostile --rules r.rules -- bash hostile > name; holdfast attach hostile"},
};

class HostileRunTest : public TerminalRunTest, public testing::WithParamInterface<HostileCase> {
 protected:
  // Starts the hostile command, which goes on when its output is on the screen: nobody could be asked before.
  void Begin() {
    Type(fmt::format("clear; {}", GetParam().command));
    Await("connected\n");
    Output("touch begin");
  }
};

INSTANTIATE_TEST_SUITE_P(, HostileRunTest, testing::ValuesIn(kHostileCases),
                         [](const auto& info) { return info.param.name; });

TEST_P(HostileRunTest, CannotDrawOverAQuestion) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\")\n");
  scratch_.Write("hostile", kHostile);
  Begin();
  const std::string yes = AwaitQuestion();
  const std::string question = fmt::format(
      "{0} | holdfast: the command wants to run, outside of the sandbox,\n{0} |     /usr/bin/id -u\n{0} |   in {1}\n",
      yes, scratch_.path());
  Output("touch shown");
  EXPECT_TRUE(support::Eventually([&] { return ::access(Path("looped").c_str(), F_OK) == 0; }));
  EXPECT_TRUE(Screen().starts_with(question)) << Screen();
  EXPECT_THAT(Screen(), Not(HasSubstr("/usr/bin/true")));
  EXPECT_EQ(Tmux({"display-message", "-p",
                  "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{insert_flag} "
                  "#{origin_flag} #{scroll_region_upper} #{pane_title}|"}),
            "0 1 0 0 0 0 |\n");
  Type(yes);
  Await("held back\n");
  EXPECT_EQ(Content("outside"), fmt::format("{}\n", ::geteuid()));
}

// The output that is held back stays with the command.
TEST_P(HostileRunTest, WaitsWhileAQuestionIsOpen) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\")\n");
  scratch_.Write("hostile", R"(
echo connected; while [ ! -e begin ]; do sleep 0.1; done
(for i in {1..500}; do printf '%65536s' x; echo written >> blocks; done) &
/usr/bin/id -u > outside; wait; printf '\033[2J\033[Hover\r\n')");
  Begin();
  const std::string yes = AwaitQuestion();
  std::string written;
  auto changed = std::chrono::steady_clock::now();
  EXPECT_TRUE(support::Eventually([&] {
    const auto now = std::chrono::steady_clock::now();
    const std::string before = std::exchange(written, Content("blocks"));
    if (written != before) changed = now;
    return !written.empty() && now - changed > std::chrono::seconds(2);
  }));
  EXPECT_LT(written.size(), 300 * std::string_view("written\n").size());
  Type(yes);
  Await("over\n");
}

// What is typed for the text of the command does not answer the question, and neither does the answer that it asks for.
TEST_P(HostileRunTest, GetsNoAnswerThatWasMeantForItsOwnText) {
  scratch_.Write("r.rules", "prefix_rule(pattern=[\"/usr/bin/id\"], decision=\"prompt\")\n");
  scratch_.Write("hostile",
                 "printf 'Type y to go on: '; while [ ! -e typed ]; do :; done; /usr/bin/id -u > outside; "
                 "echo status $?; wait");
  Type(fmt::format("clear; {}", GetParam().command));
  Await("Type y to go on:");
  Type("y");
  Type("y");
  Output("touch typed");
  AwaitQuestion();
  Type("y");
  Await("status 1");
  EXPECT_EQ(Content("outside"), "");
}

}  // namespace
}  // namespace holdfast::cli
