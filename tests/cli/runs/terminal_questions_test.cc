// Tests of questions at the level of bytes. The terminal is a pseudo terminal of the test, which a child asks on.
#include "cli/runs/terminal_questions.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/screen.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "sys/pty.h"

namespace holdfast::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kEndOfQuestion = "to refuse it: ";
constexpr int kSilenceMs = 60'000;

TEST(MarkedLinesTest, HaveTheMarkInFrontOfEach) {
  EXPECT_EQ(MarkedLines("one\n  two\n", "417", 80), "417 | one\n417 |   two\n");
  EXPECT_EQ(MarkedLines("one\n\ntwo", "417", 80), "417 | one\n417 | \n417 | two\n");
}

// The command fills a line with blanks, so that the rest of its argument would begin a line of the terminal.
TEST(MarkedLinesTest, HaveAnotherMarkWhereALongLineGoesOn) {
  const std::string blanks(23, ' '), fake = "  in /home/ann";
  EXPECT_EQ(MarkedLines(blanks + fake + "\nend", "417", 30), "417 | " + blanks + "\n417 : " + fake + "\n417 | end\n");
  EXPECT_EQ(MarkedLines(std::string(46, 'x'), "417", 30),
            "417 | " + std::string(23, 'x') + "\n417 : " + std::string(23, 'x') + "\n");
}

TEST(MarkedLinesTest, CountTwoCellsForACharacterThatMayBeWide) {
  const std::string wide = "\xe5\xa5\xbd";
  std::string eleven;
  for (int i = 0; i < 11; ++i) eleven += wide;
  EXPECT_EQ(MarkedLines(eleven + wide, "417", 30), "417 | " + eleven + "\n417 : " + wide + "\n");
}

TEST(MarkedLinesTest, AreShownOnATerminalOfAnyWidth) {
  EXPECT_EQ(MarkedLines(std::string(21, 'x'), "417", 0), "417 | " + std::string(20, 'x') + "\n417 : x\n");
}

loop::Task<> AskAndExit(TerminalQuestions& questions) {
  const Consent consent = co_await questions.Ask("may it run?\n");
  ::_exit(static_cast<int>(consent));
}

class TerminalQuestionsTest : public testing::Test {
 protected:
  TerminalQuestionsTest() {
    Type("typed before\n");
    child_ = ::fork();
    if (child_ == 0) AskInChild();
  }
  ~TerminalQuestionsTest() override {
    if (child_ > 0) ::kill(child_, SIGKILL);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }

  void Type(std::string_view text) {
    ASSERT_EQ(::write(pty_.master.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // Returns what the terminal is sent, up to the end of the question.
  std::string Question() {
    std::string shown;
    while (!shown.ends_with(kEndOfQuestion)) {
      pollfd ready{.fd = pty_.master.get(), .events = POLLIN, .revents = 0};
      char buffer[4096];
      if (::poll(&ready, 1, kSilenceMs) <= 0) break;
      const ssize_t size = ::read(pty_.master.get(), buffer, sizeof buffer);
      if (size <= 0) break;
      shown.append(buffer, static_cast<size_t>(size));
    }
    EXPECT_TRUE(shown.ends_with(kEndOfQuestion)) << shown;
    return shown.substr(shown.find('\x18'));  // what was typed before is echoed
  }
  static std::string MarkOf(const std::string& question) { return question.substr(question.find(" | ") - 3, 3); }

  Consent Answer() {
    int status = -1;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    child_ = -1;
    EXPECT_TRUE(WIFEXITED(status));
    return static_cast<Consent>(WEXITSTATUS(status));
  }

  sys::Pty pty_ = *sys::OpenPty({.rows = 24, .cols = 80});
  pid_t child_ = -1;

 private:
  [[noreturn]] void AskInChild() {
    ::setsid();
    pty_.master.Reset();
    if (::ioctl(pty_.slave.get(), TIOCSCTTY, 0) < 0) ::_exit(99);
    ::setenv("TERM", "xterm", 1);
    std::signal(SIGHUP, SIG_IGN);
    loop::EventLoop loop;
    TerminalQuestions questions(loop);
    loop::Scope scope;
    scope.Start(AskAndExit(questions));
    loop.Run();
    ::_exit(98);
  }
};

// Nothing that a command has sent before can be in effect behind these bytes.
TEST_F(TerminalQuestionsTest, BeginWithACleanScreen) {
  std::string clean;
  for (const char c : CleanScreen(24)) clean += c == '\n' ? "\r\n" : std::string(1, c);
  const std::string question = Question();
  EXPECT_THAT(question, StartsWith(clean + MarkOf(question) + " | may it run?\r\n"));
  EXPECT_THAT(clean, StartsWith("\x18\x1b\\"));
  EXPECT_TRUE(clean.ends_with("\x1b[2J\x1b[H"));
  for (const char* sequence : {"\x1b[?1049l", "\x1b[!p", "\x1b[0m", "\x1b[r", "\x1b[?6l", "\x1b(B", "\x1b]0;\x1b\\",
                               "\x1b[?25h", "\x1b[?1003l", "\x1b[?2004l", "\x1b[?2026l", "\x1b]110\x1b\\"}) {
    EXPECT_THAT(clean, HasSubstr(sequence));
  }
}

// A job in the background, such as another `holdfast run`, could move the cursor into the question and write another
// one behind its marks.
TEST_F(TerminalQuestionsTest, LetTheTerminalStopJobsInTheBackgroundThatWrite) {
  (void)Question();
  termios settings{};
  ASSERT_EQ(::tcgetattr(pty_.master.get(), &settings), 0);
  EXPECT_NE(settings.c_lflag & TOSTOP, 0U);
}

TEST_F(TerminalQuestionsTest, TakeTheirMarkForYes) {
  Type(MarkOf(Question()) + "\n");
  EXPECT_EQ(Answer(), Consent::kYes);
}

TEST_F(TerminalQuestionsTest, TakeEverythingElseForNo) {
  const std::string mark = MarkOf(Question());
  Type(mark + mark + "\n");
  EXPECT_EQ(Answer(), Consent::kNo);
}

TEST_F(TerminalQuestionsTest, TakeYForNo) {
  (void)Question();
  Type("y\n");
  EXPECT_EQ(Answer(), Consent::kNo);
}

TEST_F(TerminalQuestionsTest, TakeCtrlCForNo) {
  Type(MarkOf(Question()) + "\x03");
  EXPECT_EQ(Answer(), Consent::kNo);
}

TEST_F(TerminalQuestionsTest, TakeALostTerminalForNo) {
  (void)Question();
  pty_.master.Reset();
  EXPECT_EQ(Answer(), Consent::kNo);
}

}  // namespace
}  // namespace holdfast::cli
