#include "sys/pty.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "sys/io.h"

namespace holdfast::sys {
namespace {

class PtyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pty = OpenPty({.rows = 30, .cols = 90});
    ASSERT_TRUE(pty) << pty.error().message;
    pty_ = *std::move(pty);
  }

  winsize Size() const {
    winsize size = {};
    EXPECT_EQ(::ioctl(pty_.slave.get(), TIOCGWINSZ, &size), 0);
    return size;
  }

  Pty pty_;
};

TEST_F(PtyTest, OpensATerminalOfTheSizeAskedFor) {
  EXPECT_TRUE(::isatty(pty_.slave.get()));
  EXPECT_EQ(Size().ws_row, 30);
  EXPECT_EQ(Size().ws_col, 90);
}

TEST_F(PtyTest, BlocksTheProgramButNotUs) {
  EXPECT_TRUE(::fcntl(pty_.master.get(), F_GETFL) & O_NONBLOCK);
  EXPECT_FALSE(::fcntl(pty_.slave.get(), F_GETFL) & O_NONBLOCK);
}

TEST_F(PtyTest, TranslatesLineEndsAsTheKernelDoes) {
  EXPECT_EQ(Write(pty_.slave.get(), "hi\n", 3), 3);
  char buffer[16];
  EXPECT_EQ(Read(pty_.master.get(), buffer, sizeof buffer), 4);
  EXPECT_EQ(std::string_view(buffer, 4), "hi\r\n");
}

TEST_F(PtyTest, ChangesItsSize) {
  EXPECT_TRUE(SetWindowSize(pty_.master.get(), {.rows = 1, .cols = 65535}));
  EXPECT_EQ(Size().ws_row, 1);
  EXPECT_EQ(Size().ws_col, 65535);
}

TEST_F(PtyTest, KnowsTheEndOfFileCharacterOfTheProgram) {
  auto eof = EndOfFileOf(pty_.master.get());
  ASSERT_TRUE(eof);
  EXPECT_EQ(eof->character, 4);
  EXPECT_TRUE(eof->line_editing);
  termios settings;
  ASSERT_EQ(::tcgetattr(pty_.slave.get(), &settings), 0);
  settings.c_cc[VEOF] = 'q';
  settings.c_lflag &= ~static_cast<tcflag_t>(ICANON);
  ASSERT_EQ(::tcsetattr(pty_.slave.get(), TCSANOW, &settings), 0);
  eof = EndOfFileOf(pty_.master.get());
  ASSERT_TRUE(eof);
  EXPECT_FALSE(eof->line_editing);
}

TEST_F(PtyTest, FailsOnWhatIsNoTerminal) {
  auto null = OpenDevNull();
  ASSERT_TRUE(null);
  EXPECT_FALSE(SetWindowSize(null->get(), {}));
  EXPECT_FALSE(EndOfFileOf(null->get()));
}

}  // namespace
}  // namespace holdfast::sys
