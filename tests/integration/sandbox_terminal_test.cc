// Tests of a sandbox on a terminal, as people use it: with job control inside, and as a job of a shell outside.
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/sandbox_workspace.h"
#include "sys/io.h"
#include "sys/pty.h"

namespace holdfast::support {
namespace {

using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

constexpr std::string_view kCtrlC = "\x03", kCtrlD = "\x04", kCtrlZ = "\x1a";

std::string Quoted(const Strings& words) {
  std::string line;
  for (const std::string& word : words) line += fmt::format("'{}' ", word);
  return line;
}

// A program that leads a session on a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(const Strings& words) {
    auto pty = sys::OpenPty({});
    pid_ = ::fork();
    if (pid_ == 0) ExecInChild(words, pty->slave.get());
    master_ = std::move(pty->master);
    (void)sys::SetBlocking(master_.get(), sys::Blocking::kYes);
  }
  ~OnTerminal() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  void Type(std::string_view keys) const {
    EXPECT_EQ(sys::Write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  // Returns what the terminal has shown since the last call, up to `text`.
  std::string Await(std::string_view text) {
    while (!shown_.contains(text)) {
      pollfd ready = {master_.get(), POLLIN, 0};
      char buffer[4096];
      const bool is_ready = ::poll(&ready, 1, static_cast<int>(kPatience.count())) > 0;
      const ssize_t n = is_ready ? sys::Read(master_.get(), buffer, sizeof buffer) : 0;
      if (n <= 0) {
        ADD_FAILURE() << "no " << text << " in: " << shown_;
        ::kill(pid_, SIGKILL);
        return std::exchange(shown_, {});
      }
      shown_.append(buffer, static_cast<size_t>(n));
    }
    std::string rest = shown_.substr(shown_.find(text) + text.size());
    std::string before = std::exchange(shown_, std::move(rest));
    before.resize(before.size() - shown_.size());
    return before;
  }

  int Finish() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  int master() const { return master_.get(); }

 private:
  [[noreturn]] static void ExecInChild(const Strings& words, int slave) {
    ::setsid();
    ::ioctl(slave, TIOCSCTTY, 0);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(slave, fd);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // exec only reads
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(99);
  }

  pid_t pid_ = -1;
  OwnedFd master_;
  std::string shown_;
};

class SandboxTerminalTest : public testing::TestWithParam<SandboxCase> {
 protected:
  void SetUp() override {
    if (const std::string reason = workspace_.WhyNot(); !reason.empty()) GTEST_SKIP() << reason;
  }

  Strings Script(const std::string& script) const { return workspace_.InsideWords(script); }
  // Shell returns the words of a shell outside, and Line a line for it that runs a script inside.
  static Strings Shell() { return {"env", "-i", "PS1=ready> ", "PATH=/usr/bin:/bin", "bash", "--norc", "--noprofile"}; }
  std::string Line(const std::string& script) const { return Quoted(Script(script)); }

  SandboxWorkspace workspace_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, SandboxTerminalTest,
                         testing::ValuesIn(UsersWith({Means::kNative, Means::kSystemBubblewrap})), CaseName);

TEST_P(SandboxTerminalTest, AShellInsideHasJobControl) {
  OnTerminal terminal(Script("PS1='ready> ' exec bash --norc --noprofile -i"));
  EXPECT_THAT(terminal.Await("ready> "), Not(HasSubstr("no job control")));
  terminal.Type("tty; ps -o tty= -p $$; sh -c 'echo u\"\"p; exec sleep 1000'\n");
  EXPECT_THAT(terminal.Await("up\r\n"), HasSubstr("/dev/console"));
  terminal.Type(kCtrlC);
  terminal.Await("ready> ");
  terminal.Type("echo status=$?; sh -c 'echo u\"\"p; exec cat'\n");
  EXPECT_THAT(terminal.Await("up\r\n"), HasSubstr("status=130\r\n"));
  terminal.Type(kCtrlZ);
  terminal.Await("Stopped");
  terminal.Await("ready> ");
  terminal.Type("fg\n");
  terminal.Await("exec cat'\r\n");
  terminal.Type("again\n");
  terminal.Await("again\r\nagain\r\n");
  terminal.Type(kCtrlD);
  terminal.Await("ready> ");
  terminal.Type("exit 6\n");
  EXPECT_EQ(terminal.Finish(), 6);
}

TEST_P(SandboxTerminalTest, ACommandLearnsOfANewSize) {
  OnTerminal terminal(Script("trap 'stty size; exit 5' WINCH; echo u\"\"p; while :; do sleep 0.01; done"));
  terminal.Await("up\r\n");
  ASSERT_TRUE(sys::SetWindowSize(terminal.master(), {.rows = 33, .cols = 77}));
  terminal.Await("33 77\r\n");
  EXPECT_EQ(terminal.Finish(), 5);
}

TEST_P(SandboxTerminalTest, AShellOutsideStopsAndContinuesIt) {
  OnTerminal terminal(Shell());
  terminal.Await("ready> ");
  terminal.Type(Line("echo u\"\"p; read -r line; echo \"got $line\"; exit 5") + "\n");
  terminal.Await("up\r\n");
  terminal.Type(kCtrlZ);
  terminal.Await("Stopped");
  terminal.Await("ready> ");
  terminal.Type("fg\n");
  terminal.Await("line\"; exit 5'");
  terminal.Type("it\n");
  terminal.Await("got it\r\n");
  terminal.Type("echo status=$?; exit 3\n");
  terminal.Await("status=5\r\n");
  EXPECT_EQ(terminal.Finish(), 3);
}

// A shell sends no signal to a running job that it brings to the foreground.
TEST_P(SandboxTerminalTest, AJobThatRunsInTheBackgroundCanBeBroughtToTheFront) {
  OnTerminal terminal(Shell());
  terminal.Await("ready> ");
  terminal.Type(Line("touch running; while ! [ -e go ]; do sleep 0.01; done; read -r line; exit 5") + "&\n");
  terminal.Await("ready> ");
  EXPECT_TRUE(Eventually([&] { return workspace_.Outside("test -e running").status == 0; }));
  terminal.Type("fg\n");
  terminal.Await("exit 5'");
  EXPECT_EQ(workspace_.Outside("touch go").status, 0);
  terminal.Type("it\n");
  terminal.Await("ready> ");
  terminal.Type("echo status=$?; exit 3\n");
  terminal.Await("status=5\r\n");
  EXPECT_EQ(terminal.Finish(), 3);
}

TEST_P(SandboxTerminalTest, CtrlCEndsTheCommandAndNotTheShellOutside) {
  OnTerminal terminal(Shell());
  terminal.Await("ready> ");
  terminal.Type(Line("echo u\"\"p; sleep 1000; true") + "\n");
  terminal.Await("up\r\n");
  terminal.Type(kCtrlC);
  terminal.Await("ready> ");
  terminal.Type("echo status=$?; exit 3\n");
  terminal.Await("status=130\r\n");
  EXPECT_EQ(terminal.Finish(), 3);
}

// The streams of the command are not the terminal, so it has a session of its own. Ctrl-Z stops the helper, which stops
// the command.
TEST_P(SandboxTerminalTest, CtrlZStopsACommandThatIsNotOnTheTerminal) {
  OnTerminal terminal(Shell());
  terminal.Await("ready> ");
  terminal.Type(Line("touch running; until [ -e go ]; do sleep 0.01; done; touch gone") +
                "< /dev/null > /dev/null 2>&1\n");
  EXPECT_TRUE(Eventually([&] { return workspace_.Outside("test -e running").status == 0; }));
  terminal.Type(kCtrlZ);
  terminal.Await("Stopped");
  EXPECT_EQ(workspace_.Outside("touch go; sleep 0.1; test -e gone").status, 1);
  terminal.Type("fg; echo status=$?; exit 3\n");
  terminal.Await("status=0\r\n");
  EXPECT_EQ(workspace_.Outside("test -e gone").status, 0);
  EXPECT_EQ(terminal.Finish(), 3);
}

}  // namespace
}  // namespace holdfast::support
