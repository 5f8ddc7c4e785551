#include "process/wrapped_command.h"

#include <unistd.h>

#include <gtest/gtest.h>
#include <optional>
#include <string_view>

#include "loop/event_loop.h"
#include "sys/io.h"

namespace holdfast::process {
namespace {

class StartReportWatchTest : public testing::Test {
 protected:
  StartReportWatchTest()
      : pipe_(*sys::MakePipe(sys::OurEnd::kRead)),
        report_(loop_, std::make_shared<OwnedFd>(std::move(pipe_.read_end)),
                [this](const Result<Enforcement>& outcome) {
                  outcome_ = outcome;
                  ++calls_;
                  loop_.Stop();
                }) {}

  void Say(std::string_view text) { ASSERT_EQ(::write(pipe_.write_end.get(), text.data(), text.size()), text.size()); }
  void Close() { pipe_.write_end.Reset(); }

  // Waits on the loop for the outcome and returns it.
  const std::optional<Result<Enforcement>>& Await() {
    report_.Watch();
    loop_.Run();
    return outcome_;
  }

  loop::EventLoop loop_;
  sys::Pipe pipe_;
  std::optional<Result<Enforcement>> outcome_;
  int calls_ = 0;
  StartReportWatch report_;
};

TEST_F(StartReportWatchTest, TakesALineForTheStart) {
  Say("started\n");
  EXPECT_TRUE(*Await());
}

TEST_F(StartReportWatchTest, TakesTheEndOfAnExecutionForTheStart) {
  Say("executing\n");
  Close();
  EXPECT_TRUE(*Await());
}

TEST_F(StartReportWatchTest, GivesTheReasonOfAFailedExecution) {
  Say("executing\n");
  Say("failed 126 execute x: Permission denied\n");
  ASSERT_FALSE(*Await());
  EXPECT_EQ((*outcome_).error().message, "execute x: Permission denied");
}

TEST_F(StartReportWatchTest, TakesTheEndWithoutAWordForADeath) {
  Close();
  ASSERT_FALSE(*Await());
  EXPECT_EQ((*outcome_).error().message, "the sandbox's helper ended before the command was started");
}

TEST_F(StartReportWatchTest, TakesWordsItDoesNotKnowForADeath) {
  Say("maybe\n");
  EXPECT_FALSE(*Await());
}

TEST_F(StartReportWatchTest, GivesTheReasonOfAFailure) {
  Say("failed 127 execute nope: No such file or directory\n");
  ASSERT_FALSE(*Await());
  EXPECT_EQ((*outcome_).error().kind, ErrorKind::kNoSuchProgram);
  EXPECT_EQ((*outcome_).error().message, "execute nope: No such file or directory");
}

TEST_F(StartReportWatchTest, WaitsForTheWholeLine) {
  Say("failed 1 half");
  loop_.Post([this] {
    EXPECT_FALSE(outcome_);
    Say(" and half\n");
  });
  ASSERT_FALSE(*Await());
  EXPECT_EQ((*outcome_).error().message, "half and half");
}

TEST_F(StartReportWatchTest, TakesWhatIsThereWhenTheWrapperHasEnded) {
  Say("failed 101 cut sho");
  report_.ReadRest();
  ASSERT_TRUE(outcome_ && !*outcome_);
  EXPECT_EQ((*outcome_).error().message, "cut sho");
}

TEST_F(StartReportWatchTest, DecidesOnce) {
  Say("started\n");
  report_.ReadRest();
  Say("failed 1 late\n");
  report_.ReadRest();
  EXPECT_EQ(calls_, 1);
  EXPECT_TRUE(*outcome_);
}

TEST_F(StartReportWatchTest, EndsALineThatNeverEnds) {
  Say("failed 1 " + std::string(40'000, 'x'));
  ASSERT_FALSE(*Await());
  EXPECT_LE((*outcome_).error().message.size(), 32u << 10);
}

}  // namespace
}  // namespace holdfast::process
