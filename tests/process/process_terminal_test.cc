#include "process/process.h"
#include "process/process_fixture.h"

namespace holdfast::process {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProcessTerminalTest : public ProcessFixture {
 protected:
  Subject& OnTerminal(const std::string& script, sys::WindowSize size = {}) {
    return Launch(Shell(script), Terminal{size});
  }

  // Writes when the command runs, so that its terminal settings are in place.
  void Write(Subject& subject, std::string bytes) {
    ASSERT_TRUE(RunUntil([&] { return subject->pid().has_value(); }));
    subject->input()->Write(0, std::move(bytes), [](auto) {});
  }
};

TEST_F(ProcessTerminalTest, HasTheDefaultSize) {
  EXPECT_EQ(Run(Shell("stty size"), Terminal{}).owner.terminal(), "24 80\r\n");
}

TEST_F(ProcessTerminalTest, HasTheSizeAskedFor) {
  EXPECT_EQ(Run(Shell("stty size"), Terminal{{50, 132}}).owner.terminal(), "50 132\r\n");
}

TEST_F(ProcessTerminalTest, ConnectsAllThreeDescriptorsAndControlsTheJob) {
  Subject& subject = Run(Shell("test -t 0 && test -t 1 && test -t 2 && echo all >/dev/tty"), Terminal{});
  EXPECT_EQ(subject.owner.terminal(), "all\r\n");
  EXPECT_EQ(subject->exit_code(), 0);
}

TEST_F(ProcessTerminalTest, TellsTheProgramOfAResize) {
  Subject& subject = OnTerminal("trap 'stty size; exit 0' WINCH; echo ready; sleep 1000 & wait");
  ASSERT_TRUE(RunUntilOutput(subject, "ready"));
  ASSERT_TRUE(subject->Resize({30, 100}));
  ASSERT_TRUE(RunUntil([&] { return subject->exit_code().has_value(); }));
  EXPECT_THAT(subject.owner.terminal(), HasSubstr("30 100"));
}

TEST_F(ProcessTerminalTest, RefusesToResizeWhatIsNoTerminal) {
  Subject& subject = Launch(Shell("cat"), kOpenStdin);
  auto resized = subject->Resize({30, 100});
  ASSERT_FALSE(resized);
  EXPECT_EQ(resized.error().kind, ErrorKind::kInvalidRequest);
}

TEST_F(ProcessTerminalTest, TakesAResizeAfterTheEnd) {
  Subject& subject = Run(Shell("true"), Terminal{});
  EXPECT_TRUE(subject->Resize({30, 100}));
}

TEST_F(ProcessTerminalTest, EchoesWhatIsWritten) {
  Subject& subject = OnTerminal("cat");
  Write(subject, "hi\n");
  EXPECT_TRUE(RunUntilOutput(subject, "hi\r\nhi\r\n"));
}

TEST_F(ProcessTerminalTest, InterruptsByTheControlCharacter) {
  Subject& subject = OnTerminal("echo ready; exec sleep 1000");
  ASSERT_TRUE(RunUntilOutput(subject, "ready"));
  Write(subject, "\x03");
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 130);
}

TEST_F(ProcessTerminalTest, EndsTheInputBetweenLines) {
  Subject& subject = OnTerminal("cat; echo over");
  Write(subject, "line\n");
  subject->input()->CloseAfterQueued();
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_THAT(subject.owner.terminal(), HasSubstr("line\r\nover\r\n"));
}

TEST_F(ProcessTerminalTest, EndsTheInputInsideALine) {
  Subject& subject = OnTerminal("cat; echo over");
  Write(subject, "half");
  subject->input()->CloseAfterQueued();
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_THAT(subject.owner.terminal(), HasSubstr("halfhalfover\r\n"));
}

TEST_F(ProcessTerminalTest, EndsTheInputForOneReaderOnly) {
  Subject& subject = OnTerminal("cat; echo first over; cat; echo second over");
  Write(subject, "half");
  subject->input()->CloseAfterQueued();
  ASSERT_TRUE(RunUntilOutput(subject, "first over"));
  Write(subject, "more\n");
  ASSERT_TRUE(RunUntilOutput(subject, "more\r\nmore\r\n"));
  EXPECT_THAT(subject.owner.terminal(), Not(HasSubstr("second over")));
  subject->input()->CloseAfterQueued();
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_THAT(subject.owner.terminal(), HasSubstr("second over"));
}

TEST_F(ProcessTerminalTest, LosesNothingThatIsWrittenJustBeforeTheExit) {
  for (int i = 0; i < 10; ++i) {
    Subject& subject = Run(Shell("head -c 3000 /dev/zero | tr '\\0' x; printf end"), Terminal{});
    EXPECT_EQ(subject.owner.terminal(), std::string(3000, 'x') + "end");
  }
}

}  // namespace
}  // namespace holdfast::process
