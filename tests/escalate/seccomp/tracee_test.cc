#include "escalate/seccomp/tracee.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/proc.h"
#include "sys/io.h"

namespace holdfast::escalate {
namespace {

// The child has two threads. The second one executes a program as soon as it is told to.
class TraceeTest : public testing::Test {
 protected:
  TraceeTest() {
    child_ = ::fork();
    if (child_ == 0) Wait();
    pipe_->read_end.Reset();
  }
  ~TraceeTest() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, __WALL);
  }

  [[noreturn]] void Wait() const {
    std::thread second([this] {
      char letter;
      if (sys::Read(pipe_->read_end.get(), &letter, 1) == 1) ::execl("/bin/sleep", "sleep", "1000", nullptr);
      ::_exit(1);
    });
    for (;;) ::pause();
  }
  void LetSecondThreadExecute() const {
    EXPECT_EQ(sys::Write(pipe_->write_end.get(), "g", 1), 1);
    EXPECT_TRUE(support::Eventually([&] { return support::ReadProcFile(child_, "comm") == "sleep\n"; }));
  }

  Result<sys::Pipe> pipe_ = sys::MakePipe(sys::OurEnd::kWrite);
  pid_t child_ = -1;
};

TEST_F(TraceeTest, IsInterruptedWhileItIsTraced) {
  auto tracee = Tracee::Seize(child_, child_, nullptr);
  ASSERT_TRUE(tracee);
  EXPECT_TRUE(tracee->Interrupt());
}

// The second thread gets the number of the first one, and nobody has judged the calls that it makes.
TEST_F(TraceeTest, IsNotTheThreadThatGetsItsNumber) {
  auto tracee = Tracee::Seize(child_, child_, nullptr);
  ASSERT_TRUE(tracee);
  LetSecondThreadExecute();
  EXPECT_FALSE(tracee->Interrupt());
  EXPECT_EQ(::kill(child_, 0), 0);
}

}  // namespace
}  // namespace holdfast::escalate
