// Tests of the code for the terminal at which the user sits. The terminal is a pseudo terminal of the test.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "cli/terminal/escape_keys.h"
#include "cli/terminal/local_io.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/raw_mode.h"
#include "cli/terminal/screen.h"
#include "support/scratch_dir.h"
#include "sys/io.h"
#include "sys/pty.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RawModeTest : public testing::Test {
 protected:
  bool IsRaw() const {
    termios settings{};
    EXPECT_EQ(::tcgetattr(pty_.slave.get(), &settings), 0);
    return (settings.c_lflag & (ICANON | ECHO | ISIG)) == 0;
  }

  // Runs `body` in a child that is in raw mode, and returns its wait status.
  template <typename Body>
  int InRawChild(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto raw = RawMode::Enter(pty_.slave.get());
      if (!raw || !IsRaw()) ::_exit(99);
      body();
      std::exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }

  sys::Pty pty_ = *sys::OpenPty({.rows = 24, .cols = 80});
};

TEST_F(RawModeTest, EndsWithTheObject) {
  EXPECT_FALSE(IsRaw());
  {
    const auto raw = RawMode::Enter(pty_.slave.get());
    ASSERT_TRUE(raw.has_value());
    EXPECT_TRUE(IsRaw());
    raw->Suspend();
    EXPECT_FALSE(IsRaw());
    EXPECT_TRUE(raw->Resume().has_value());
    EXPECT_TRUE(IsRaw());
  }
  EXPECT_FALSE(IsRaw());
}

TEST_F(RawModeTest, EndsWhenTheProgramCallsExit) {
  EXPECT_EQ(InRawChild([] { std::exit(7); }), W_EXITCODE(7, 0));
  EXPECT_FALSE(IsRaw());
}

TEST_F(RawModeTest, EndsWhenASignalEndsTheProgram) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT}) {
    const int status = InRawChild([signal] {
      ::prctl(PR_SET_DUMPABLE, 0);
      std::raise(signal);
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << signal << " " << status;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_FALSE(IsRaw()) << signal;
  }
}

TEST_F(RawModeTest, LeavesAnIgnoredSignalIgnored) {
  std::signal(SIGHUP, SIG_IGN);  // as nohup does
  EXPECT_EQ(InRawChild([] { std::raise(SIGHUP); }), 0);
  std::signal(SIGHUP, SIG_DFL);
}

TEST_F(RawModeTest, RefusesADescriptorThatIsNoTerminal) {
  const auto null = sys::OpenDevNull();
  EXPECT_FALSE(RawMode::Enter(null->get()).has_value());
}

class EscapeKeysTest : public testing::Test {
 protected:
  EscapeKeys keys_ = *EscapeKeys::Parse("ctrl-]");
};

TEST_F(EscapeKeysTest, PassesOnWhatIsTyped) {
  const auto typed = keys_.Take("ls -l\r\x03\x1a");
  EXPECT_EQ(typed.bytes, "ls -l\r\x03\x1a");
  EXPECT_FALSE(typed.action.has_value());
}

TEST_F(EscapeKeysTest, DetachesAndKeepsWhatFollows) {
  const auto typed = keys_.Take(
      "a\x1d"
      "dbc");
  EXPECT_EQ(typed.bytes, "a");
  EXPECT_EQ(typed.action, EscapeKeys::Action::kDetach);
  EXPECT_EQ(typed.rest, "bc");
}

TEST_F(EscapeKeysTest, KnowsTheKeysInSeparateReads) {
  EXPECT_EQ(keys_.Take("a\x1d").bytes, "a");
  EXPECT_EQ(keys_.Take("z").action, EscapeKeys::Action::kStop);
  EXPECT_EQ(keys_.Take("z").bytes, "z");
}

TEST_F(EscapeKeysTest, PassesOnTheEscapeKeyIfItIsTypedTwiceOrBeforeAnotherKey) {
  EXPECT_EQ(keys_.Take("\x1d\x1d").bytes, "\x1d");
  EXPECT_EQ(keys_.Take("\x1dx").bytes, "\x1dx");
  EXPECT_EQ(keys_.Take("d").bytes, "d");
}

TEST_F(EscapeKeysTest, ReadsTheNameOfAKey) {
  EXPECT_EQ(EscapeKeys::Parse("ctrl-p")
                ->Take("\x10"
                       "d")
                .action,
            EscapeKeys::Action::kDetach);
  EXPECT_EQ(EscapeKeys::Parse("^P")
                ->Take("\x10"
                       "d")
                .action,
            EscapeKeys::Action::kDetach);
  EXPECT_EQ(EscapeKeys::Parse("none")
                ->Take("\x1d"
                       "d")
                .bytes,
            "\x1d"
            "d");
  for (const char* name : {"", "p", "ctrl-", "ctrl-pq", "alt-p", "ctrl-1"}) {
    EXPECT_FALSE(EscapeKeys::Parse(name).has_value()) << name;
  }
}

TEST(LocalOutputTest, DoesNotWaitForTheReaderOfAPipeAndLeavesItsModeAlone) {
  std::signal(SIGPIPE, SIG_IGN);
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);  // the end for writing is blocking
  LocalOutput output(pipe->write_end.get());
  const std::string much(1 << 20, 'x');
  const ssize_t written = output.Write(much);
  EXPECT_GT(written, 0);
  EXPECT_LT(written, static_cast<ssize_t>(much.size()));
  EXPECT_EQ(::fcntl(pipe->write_end.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(output.fd(), pipe->write_end.get());
  pipe->read_end.Reset();
  EXPECT_EQ(output.Write("x"), -EPIPE);
}

TEST(LocalOutputTest, DoesNotWaitForTheReaderOfASocketOrATerminal) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const OwnedFd ours(sockets[0]), theirs(sockets[1]);
  const sys::Pty pty = *sys::OpenPty({});
  const std::string much(4 << 20, 'x');
  for (const int fd : {ours.get(), pty.slave.get()}) {
    LocalOutput output(fd);
    EXPECT_LT(output.Write(much), static_cast<ssize_t>(much.size()));
    EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST(LocalOutputTest, WritesAFileAtItsOwnPlace) {
  const support::ScratchDir scratch;
  const std::string path = scratch.Write("file", "");
  const OwnedFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::write(file.get(), "one ", 4), 4);
  LocalOutput output(file.get());
  EXPECT_EQ(output.Write("two"), 3);
  char text[16] = {};
  EXPECT_EQ(::pread(file.get(), text, sizeof text, 0), 7);
  EXPECT_EQ(std::string_view(text), "one two");
}

TEST(LocalInputTest, LeavesTheModeOfTheDescriptorAlone) {
  auto pipe = sys::MakePipe(sys::OurEnd::kWrite);  // the end for reading is blocking
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const OwnedFd ours(sockets[0]), theirs(sockets[1]);
  const sys::Pty pty = *sys::OpenPty({});
  for (const int fd : {pipe->read_end.get(), ours.get(), pty.slave.get()}) {
    {
      LocalInput input(fd);
      ASSERT_EQ(::fcntl(input.fd(), F_SETFL, O_NONBLOCK), 0);  // as a watch does
      char byte;
      EXPECT_EQ(::read(input.fd(), &byte, 1), -1);
      EXPECT_EQ(errno, EAGAIN);
    }
    EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST(ScreenTest, KnowsTheSizeOfATerminalOnly) {
  const sys::Pty pty = *sys::OpenPty({.rows = 33, .cols = 101});
  EXPECT_TRUE(IsTerminal(pty.slave.get()));
  EXPECT_EQ(WindowSizeOf(pty.slave.get())->cols, 101);
  EXPECT_EQ(WindowSizeOf(pty.slave.get())->rows, 33);
  const auto null = sys::OpenDevNull();
  EXPECT_FALSE(IsTerminal(null->get()));
  EXPECT_FALSE(WindowSizeOf(null->get()).has_value());
}

TEST(ScreenTest, UsesColoursOnATerminalUnlessTheUserSaysNo) {
  const sys::Pty pty = *sys::OpenPty({});
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(HasColours(pty.slave.get()));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(HasColours(pty.slave.get()));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(HasColours(pty.slave.get()));
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(HasColours(pty.slave.get()));
}

TEST(ProgressTest, ShowsPartRateAndTimeLeft) {
  const std::string line = ProgressLine({.name = "big.iso", .bytes = 50 << 20, .total = 200 << 20, .elapsed = 5s}, 120);
  EXPECT_EQ(line, "big.iso  [#####...............]  25%  50.0 MiB of 200 MiB  10.0 MiB/s  15s left");
}

TEST(ProgressTest, CountsFilesIfThereAreMany) {
  ProgressState state{.name = "b.txt", .bytes = 5, .total = 10, .elapsed = 0ms, .file = 2, .files = 1200};
  EXPECT_EQ(ProgressLine(state, 120), "b.txt  file 2 of 1200  [##########..........]  50%  5 B of 10 B");
  state.files = state.file = 1;
  EXPECT_EQ(ProgressLine(state, 120), "b.txt  [##########..........]  50%  5 B of 10 B");
}

TEST(ProgressTest, FitsIntoTheWindow) {
  const ProgressState state{.name = "a/very/long/path/to/some/file.txt", .bytes = 1, .total = 3, .elapsed = 1s};
  for (size_t width = 0; width < 130; ++width) EXPECT_LE(ProgressLine(state, width).size(), width);
  EXPECT_THAT(ProgressLine(state, 70), StartsWith("..."));
  EXPECT_THAT(ProgressLine(state, 70), HasSubstr("file.txt"));
}

TEST(ProgressTest, ShowsNamesOfOthersAsEscapesAndSplitsNoCharacter) {
  EXPECT_THAT(ProgressLine({.name = "x\x1b]0;\u202e", .bytes = 0, .total = std::nullopt, .elapsed = 0ms}, 80),
              StartsWith(R"(x\x1b]0;\u202e  )"));
  std::string name;
  for (int i = 0; i < 50; ++i) name += "\u00e4";
  for (size_t width = 0; width < 130; ++width) {
    EXPECT_TRUE(IsUtf8(ProgressLine({.name = name, .bytes = 1, .total = 3, .elapsed = 1s}, width))) << width;
  }
}

TEST(ProgressTest, DoesNotDivideByWhatIsNotKnown) {
  EXPECT_EQ(ProgressLine({.name = "x", .bytes = 0, .total = 0, .elapsed = 0ms}, 80),
            "x  [####################] 100%  0 B of 0 B");
  EXPECT_EQ(ProgressLine({.name = "x", .bytes = 5, .total = std::nullopt, .elapsed = 0ms}, 80), "x  5 B");
}

TEST(ProgressTest, DrawsOnATerminalAndCleansUp) {
  const sys::Pty pty = *sys::OpenPty({.rows = 24, .cols = 80});
  {
    ProgressBar bar(pty.slave.get());
    bar.SetTotal({.bytes = 10, .files = 1});
    bar.Begin("file");
    bar.Add(5);
  }
  // One read may return a part of what was written, so the test reads until the bar has been cleared.
  std::string text;
  while (!text.ends_with("\r\x1b[K")) {
    pollfd readable{.fd = pty.master.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, 10'000), 1) << text;
    char bytes[256];
    const ssize_t count = ::read(pty.master.get(), bytes, sizeof bytes);
    ASSERT_GT(count, 0) << text;
    text.append(bytes, static_cast<size_t>(count));
  }
  EXPECT_THAT(text, HasSubstr("\rfile  [....................]   0%"));
}

TEST(ProgressTest, DrawsNothingIntoAPipe) {
  auto pipe = sys::MakePipe(sys::OurEnd::kRead);
  {
    ProgressBar(pipe->write_end.get()).Add(5);
  }
  char byte;
  EXPECT_EQ(::read(pipe->read_end.get(), &byte, 1), -1);
}

}  // namespace
}  // namespace holdfast::cli
