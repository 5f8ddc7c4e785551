#include "sys/io.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::sys {
namespace {

bool HasStatusFlag(int fd, int flag) { return (::fcntl(fd, F_GETFL) & flag) != 0; }
bool IsCloseOnExec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

// Interrupts system calls by a signal, again and again.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action = {};
    action.sa_handler = [](int) { count = count + 1; };
    ::sigaction(SIGALRM, &action, &before_);
    Tick(500);
  }
  ~Interruptions() {
    Tick(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

  static inline volatile sig_atomic_t count = 0;

 private:
  static void Tick(int microseconds) {
    const itimerval timer = {{0, microseconds}, {0, microseconds}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  struct sigaction before_ = {};
};

TEST(IoTest, ReportsErrorsAsNegativeErrno) {
  char c;
  EXPECT_EQ(Read(-1, &c, 1), -EBADF);
  EXPECT_EQ(Write(-1, &c, 1), -EBADF);
}

TEST(IoTest, ReadsOnAfterAnInterruption) {
  auto pipe = MakePipe(OurEnd::kWrite);
  ASSERT_TRUE(pipe);
  Interruptions::count = 0;
  const Interruptions interruptions;
  const pid_t writer = ::fork();
  if (writer == 0) {
    ::usleep(20'000);
    ::_exit(::write(pipe->write_end.get(), "x", 1) == 1 ? 0 : 1);
  }
  char c = 0;
  EXPECT_EQ(Read(pipe->read_end.get(), &c, 1), 1);
  EXPECT_EQ(c, 'x');
  EXPECT_GT(Interruptions::count, 0);
  while (::waitpid(writer, nullptr, 0) < 0 && errno == EINTR) continue;
}

TEST(PipeTest, MakesOnlyOurEndNonBlocking) {
  for (const OurEnd ours : {OurEnd::kRead, OurEnd::kWrite}) {
    auto pipe = MakePipe(ours);
    ASSERT_TRUE(pipe);
    EXPECT_EQ(HasStatusFlag(pipe->read_end.get(), O_NONBLOCK), ours == OurEnd::kRead);
    EXPECT_EQ(HasStatusFlag(pipe->write_end.get(), O_NONBLOCK), ours == OurEnd::kWrite);
    EXPECT_TRUE(IsCloseOnExec(pipe->read_end.get()) && IsCloseOnExec(pipe->write_end.get()));
  }
}

TEST(SetBlockingTest, SwitchesBackAndForth) {
  auto pipe = MakePipe(OurEnd::kRead);
  ASSERT_TRUE(pipe);
  const int fd = pipe->read_end.get();
  EXPECT_TRUE(SetBlocking(fd, Blocking::kYes));
  EXPECT_FALSE(HasStatusFlag(fd, O_NONBLOCK));
  EXPECT_TRUE(SetBlocking(fd, Blocking::kNo));
  EXPECT_TRUE(HasStatusFlag(fd, O_NONBLOCK));
  EXPECT_FALSE(SetBlocking(-1, Blocking::kNo));
}

TEST(PacketPairTest, KeepsTheBordersOfPackets) {
  auto pair = MakePacketPair();
  ASSERT_TRUE(pair);
  EXPECT_TRUE(HasStatusFlag(pair->ours.get(), O_NONBLOCK));
  EXPECT_TRUE(IsCloseOnExec(pair->ours.get()) && IsCloseOnExec(pair->theirs.get()));
  EXPECT_EQ(Write(pair->theirs.get(), "abc", 3), 3);
  EXPECT_EQ(Write(pair->theirs.get(), "de", 2), 2);
  char buffer[16];
  EXPECT_EQ(Read(pair->ours.get(), buffer, sizeof buffer), 3);
  EXPECT_EQ(Read(pair->ours.get(), buffer, sizeof buffer), 2);
  EXPECT_EQ(Read(pair->ours.get(), buffer, sizeof buffer), -EAGAIN);
  pair->theirs.Reset();
  EXPECT_EQ(Read(pair->ours.get(), buffer, sizeof buffer), 0);
}

TEST(DevNullTest, TakesEverythingAndGivesNothing) {
  auto null = OpenDevNull();
  ASSERT_TRUE(null);
  char c;
  EXPECT_EQ(Write(null->get(), "abc", 3), 3);
  EXPECT_EQ(Read(null->get(), &c, 1), 0);
}

TEST(DuplicateTest, StaysAboveTheReservedNumbers) {
  auto null = OpenDevNull();
  ASSERT_TRUE(null);
  auto copy = Duplicate(null->get());
  ASSERT_TRUE(copy);
  EXPECT_GT(copy->get(), 4);
  EXPECT_TRUE(IsCloseOnExec(copy->get()));
  EXPECT_FALSE(Duplicate(-1));
}

// The test runs in a process of its own, because it closes the standard descriptors.
TEST(ReserveLowFdsTest, FillsWhatIsClosedAndNothingElse) {
  const pid_t child = ::fork();
  if (child == 0) {
    OwnedFd marker(::open("/dev/zero", O_RDONLY));
    if (::dup2(marker.get(), 2) != 2) ::_exit(10);
    ::close_range(3, ~0u, 0);
    ::close(0);
    ::close(1);
    if (!ReserveLowFds()) ::_exit(11);
    char c = 'x';
    if (Read(0, &c, 1) != 0 || Read(4, &c, 1) != 0) ::_exit(12);
    if (Read(2, &c, 1) != 1 || c != '\0') ::_exit(13);  // descriptor 2 is still /dev/zero
    ::_exit(OpenDevNull()->get() > 4 ? 0 : 14);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace holdfast::sys
