// These tests run commands behind a wrapper, a program that reports their start. The report decides, whatever else the
// wrapper does. A shell script is the wrapper here.
#include <fcntl.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "process/process.h"
#include "process/process_fixture.h"
#include "support/scratch_dir.h"
#include "sys/io.h"
#include "sys/memory_file.h"

namespace holdfast::process {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using Clock = std::chrono::steady_clock;

// The script can read a text from descriptor 5, and writes its report to descriptor 6.
Command Wrapped(const std::string& script, std::string_view text = "the policy") {
  Command command = Shell(script);
  auto report = sys::MakePipe(sys::OurEnd::kRead);
  auto policy = sys::MakeMemoryFile("policy", text);
  EXPECT_TRUE(report && policy);
  command.wrapper = Wrapper{
      .fds = {std::make_shared<OwnedFd>(*std::move(policy)), std::make_shared<OwnedFd>(std::move(report->write_end))},
      .report = std::make_shared<OwnedFd>(std::move(report->read_end)),
      .grace = std::chrono::seconds(2)};
  return command;
}

class ProcessWrapperTest : public ProcessFixture {
 protected:
  static constexpr auto kStarting = Process::Phase::kStarting;

  std::string FailureOf(const std::string& script) {
    Subject& subject = Run(Wrapped(script));
    EXPECT_THAT(subject.owner.events, ElementsAre("failed", "gone"));
    return subject.failed() ? subject.owner.error->message : "";
  }

  // Starts a wrapper that runs and has not written its report yet.
  Subject& LaunchSilent(const std::string& script) {
    Subject& subject = Launch(Wrapped(script), kOpenStdin);
    EXPECT_TRUE(RunUntil([&] { return subject->pid().has_value(); }));
    EXPECT_EQ(subject->phase(), kStarting);
    return subject;
  }

  static void Go(Subject& subject) {
    subject->input()->Write(0, "go\n", [](auto) {});
  }
};

TEST_F(ProcessWrapperTest, HasStartedWhenItSaysSo) {
  Subject& subject = LaunchSilent("echo early; read go; echo started >&6; exit 3");
  EXPECT_THAT(subject.owner.events, ElementsAre());
  Go(subject);
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_THAT(subject.owner.events, ElementsAre("started", "output", "exited", "closed", "gone"));
  EXPECT_EQ(subject->exit_code(), 3);
  EXPECT_EQ(subject.owner.out(), "early\n");
}

// No other process holds the pipe: neither the server nor the keeper keeps a copy of the write end.
TEST_F(ProcessWrapperTest, HasStartedWhenTheReportEndsAfterAnExecution) {
  Subject& subject = Launch(Wrapped("echo executing >&6; exec 6>&-; sleep 1000"));
  ASSERT_TRUE(RunUntil([&] { return subject->phase() == Process::Phase::kStarted; }));
  EXPECT_FALSE(subject->exit_code());
}

TEST_F(ProcessWrapperTest, HasNotStartedWhenItSaysWhy) {
  EXPECT_EQ(FailureOf("echo before; echo 'failed 101 no such place' >&6; exit 101"), "no such place");
}

TEST_F(ProcessWrapperTest, IsEndedWhenItStaysAfterAFailure) {
  EXPECT_EQ(FailureOf("setsid sleep 1000 & echo 'failed 1 a reason' >&6; sleep 1000"), "a reason");
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ProcessWrapperTest, HasRunWhenItEndsAfterAnExecution) {
  for (const auto& [script, code] :
       {std::pair("echo executing >&6; exit 3", 3), std::pair("echo executing >&6; kill -9 $$", 137)}) {
    Subject& subject = Run(Wrapped(script));
    EXPECT_THAT(subject.owner.events, ElementsAre("started", "exited", "closed", "gone")) << script;
    EXPECT_EQ(subject->exit_code(), code);
  }
}

TEST_F(ProcessWrapperTest, HasNotStartedWhenItEndsWithoutAWord) {
  for (const char* script : {"exit 3", "kill -9 $$", "sleep 1000 >/dev/null 2>&1 & exit 4"}) {
    EXPECT_EQ(FailureOf(script), "the sandbox's helper ended before the command was started") << script;
  }
}

TEST_F(ProcessWrapperTest, CannotBeExecutedWhenItIsNotThere) {
  Command command = Wrapped("");
  command.program = "/no/such";
  Subject& subject = Run(command);
  ASSERT_TRUE(subject.failed());
  EXPECT_EQ(subject.owner.error->message, "execute /no/such: No such file or directory (os error 2)");
  EXPECT_EQ(subject.owner.error->kind, ErrorKind::kSystem);  // the command itself may be there
}

TEST_F(ProcessWrapperTest, IsCancelledWhileItSaysNothing) {
  Subject& subject = LaunchSilent("setsid sleep 1000 & sleep 1000");
  subject->Kill(CountDone());
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(done_, 1);
  EXPECT_THAT(subject.owner.events, ElementsAre("failed", "gone"));
  EXPECT_EQ(subject.owner.error->kind, ErrorKind::kInvalidRequest);
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(ProcessWrapperTest, IsCancelledWhenItTakesTooLong) {
  Subject& subject = LaunchSilent("sleep 1000");
  subject->CancelSlowStart(50ms);
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject.owner.error->message, "the start was cancelled");
}

TEST_F(ProcessWrapperTest, ASlowStartThatSucceedsInTimeGoesOn) {
  Subject& subject = LaunchSilent("read go; echo started >&6; read again; exit 5");
  subject->CancelSlowStart(600s);
  Go(subject);
  ASSERT_TRUE(RunUntil([&] { return subject->phase() == Process::Phase::kStarted; }));
  Go(subject);
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 5);
}

TEST_F(ProcessWrapperTest, GetsItsTwoDescriptorsAndNoOther) {
  const std::string others = "for n in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && echo $n; done";
  Subject& subject = Run(Wrapped("cat <&5; echo; " + others + "; echo started >&6", "text \xff of any length"));
  EXPECT_EQ(subject.owner.out(), "text \xff of any length\n5\n6\n");
  EXPECT_EQ(Run(Shell(others + "; exit 0")).owner.out(), "");
}

TEST_F(ProcessWrapperTest, LeavesTheServerNoDescriptor) {
  Run(Wrapped("echo started >&6"));  // the loop opens descriptors of its own at first
  const size_t before = support::CountFds(::getpid());
  Run(Wrapped("echo started >&6"));
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

// The test holds a stream of a command that has exited, as a process that the command left behind would.
class LastOutputTest : public ProcessWrapperTest {
 protected:
  static OwnedFd Hold(Subject& subject, int stream) {
    return OwnedFd(::open(fmt::format("/proc/{}/fd/{}", *subject->pid(), stream).c_str(), O_WRONLY | O_CLOEXEC));
  }

  // Starts a command that has exited. Its exit is withheld only because output may follow.
  Subject& LaunchAndHold(OwnedFd& out, OwnedFd& err) {
    // The command leaves a process behind; otherwise no process could write any more.
    Subject& subject = LaunchSilent("sleep 1000 >/dev/null 2>&1 & read go; echo started >&6; exit 7");
    out = Hold(subject, 1);
    err = Hold(subject, 2);
    EXPECT_TRUE(out.is_open() && err.is_open());
    Go(subject);
    EXPECT_TRUE(RunUntil([&] { return subject->exited_at().has_value(); }));
    EXPECT_FALSE(subject->exit_code());
    return subject;
  }

  bool RunUntilExit(Subject& subject) {
    return RunUntil([&] { return subject->exit_code().has_value(); });
  }
};

TEST_F(LastOutputTest, PrecedesTheExit) {
  OwnedFd out, err;
  Subject& subject = LaunchAndHold(out, err);
  ASSERT_EQ(::write(err.get(), "late", 4), 4);
  ASSERT_TRUE(RunUntilExit(subject));
  EXPECT_EQ(subject.owner.err(), "late");
  EXPECT_THAT(subject.owner.events, ElementsAre("started", "output", "exited"));
}

TEST_F(LastOutputTest, IsAwaitedForAMomentOnly) {
  OwnedFd out, err;
  const auto begin = Clock::now();
  Subject& subject = LaunchAndHold(out, err);
  const auto exited = Clock::now();
  ASSERT_TRUE(RunUntilExit(subject));
  EXPECT_GE(Clock::now() - begin, 20ms);
  EXPECT_LT(Clock::now() - exited, 8s);
  EXPECT_FALSE(subject->closed());
}

TEST_F(LastOutputTest, IsNotAwaitedWhenItHasEnded) {
  Subject& subject = LaunchSilent("read go; exec >&- 2>&-; echo started >&6; exit 7");
  Go(subject);
  ASSERT_TRUE(RunUntil([&] { return subject->exited_at().has_value(); }));
  EXPECT_EQ(subject->exit_code(), 7);
}

TEST_F(LastOutputTest, IsNotAwaitedAfterItsEnd) {
  OwnedFd out, err;
  Subject& subject = LaunchAndHold(out, err);
  out.Reset();
  err.Reset();
  ASSERT_TRUE(RunUntil([&] { return subject->closed(); }));
  EXPECT_THAT(subject.owner.events, ElementsAre("started", "exited", "closed"));
}

TEST_F(LastOutputTest, IsNotAwaitedWithoutAWrapper) {
  Subject& subject = Launch(Shell("sleep 1000 & exit 7"));
  ASSERT_TRUE(RunUntil([&] { return subject->exited_at().has_value(); }));
  EXPECT_EQ(subject->exit_code(), 7);
}

// The answer to a kill comes before the exit, even if the exit was only waiting for output.
TEST_F(LastOutputTest, LetsTheAnswerToAKillPrecedeTheExit) {
  Subject& subject = LaunchSilent("read go; echo started >&6; setsid sleep 1000 & exit 7");
  Go(subject);
  ASSERT_TRUE(RunUntil([&] { return subject->exited_at().has_value(); }));
  ASSERT_FALSE(subject->exit_code());
  std::vector<std::string> at_done;
  subject->Kill([&] { at_done = subject.owner.events; });
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_THAT(at_done, ElementsAre("started"));
  EXPECT_THAT(subject.owner.events, ElementsAre("started", "exited", "closed", "gone"));
  EXPECT_EQ(subject->exit_code(), 7);
}

class WrapperLeftoversTest : public ProcessWrapperTest {
 protected:
  // Kills the command once it has started, and returns how long that takes.
  Clock::duration KillTime(Subject& subject) {
    EXPECT_TRUE(RunUntil([&] { return subject->phase() == Process::Phase::kStarted; }));
    const auto begin = Clock::now();
    subject->Kill(CountDone());
    EXPECT_TRUE(RunUntil([&] { return done_ > 0 && subject->gone(); }));
    EXPECT_TRUE(support::LivingWithVariable(Mark()).empty());
    return Clock::now() - begin;
  }

  std::string In(const std::string& name) const { return dir_.path() + "/" + name; }

  support::ScratchDir dir_;
};

// A process that removes mount points works like this: a pipe tells it that the wrapper is gone.
TEST_F(WrapperLeftoversTest, MayCleanUp) {
  const std::string lifeline = In("lifeline"), cleaned = In("cleaned");
  Subject& subject = Launch(Wrapped(fmt::format(
      "mkfifo {0}; setsid sh -c 'exec <{0}; echo started >&6; read line; sleep 0.1; : >{1}' & exec 9>{0}; sleep 1000",
      lifeline, cleaned)));
  KillTime(subject);
  EXPECT_TRUE(std::filesystem::exists(cleaned));
  EXPECT_EQ(subject->exit_code(), 137);
}

TEST_F(WrapperLeftoversTest, MayNotStay) {
  Subject& subject = Launch(Wrapped("setsid sh -c 'echo started >&6; sleep 1000; :' & sleep 1000"));
  const auto took = KillTime(subject);
  EXPECT_GE(took, 1500ms);
  EXPECT_LT(took, 8s);
}

// A keeper that gets no processor time may kill one of the leftovers too late, but not all of them.
TEST_F(WrapperLeftoversTest, HaveNoTimeWithoutAWrapper) {
  int attempts_that_cleaned = 0;
  for (; attempts_that_cleaned < 5; ++attempts_that_cleaned) {
    const std::string lifeline = In(fmt::format("lifeline{}", attempts_that_cleaned));
    const std::string cleaned = lifeline + ".cleaned";
    Subject& subject = Launch(Shell(fmt::format(
        "mkfifo {0}; setsid sh -c 'exec <{0}; echo up; read line; sleep 0.2; : >{1}' & exec 9>{0}; sleep 1000",
        lifeline, cleaned)));
    ASSERT_TRUE(RunUntilOutput(subject, "up"));
    done_ = 0;
    KillTime(subject);
    if (!std::filesystem::exists(cleaned)) break;
  }
  EXPECT_LT(attempts_that_cleaned, 5);
}

// Each generation starts the next one in a new session and exits, and every exit is an event for the keeper.
TEST_F(WrapperLeftoversTest, GetNoMoreTimeByForking) {
  const std::string runner = R"(setsid sh -c "$STEP" >/dev/null 2>&1 & exit 0)";
  Command command = Wrapped("echo started >&6; exec 5<&- 6>&-; " + runner);
  command.env.emplace_back("STEP", runner);
  Subject& subject = Launch(command);
  ASSERT_TRUE(RunUntil([&] { return subject->closed(); }));
  EXPECT_LT(KillTime(subject), 8s);
  EXPECT_TRUE(NothingIsLeft());
}

}  // namespace
}  // namespace holdfast::process
