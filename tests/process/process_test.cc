#include "process/process.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>

#include "process/process_fixture.h"
#include "support/eventually.h"
#include "support/proc.h"

namespace holdfast::process {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using Events = std::vector<std::string>;

class ProcessTest : public ProcessFixture {
 protected:
  // Runs all scripts, some at a time, and returns their exit codes.
  std::vector<int> ExitCodes(const std::vector<std::string>& scripts, const Io& io) {
    constexpr size_t kAtOnce = 32;
    std::vector<int> codes;
    for (size_t i = 0; i < scripts.size(); i += kAtOnce) {
      const size_t end = std::min(i + kAtOnce, scripts.size());
      for (size_t j = i; j < end; ++j) Launch(Shell(scripts[j]), io);
      EXPECT_TRUE(
          RunUntil([&] { return std::ranges::all_of(subjects_, [](auto& subject) { return subject->over(); }); }));
      for (auto& subject : subjects_) codes.push_back(subject->process->exit_code().value_or(-1));
      subjects_.clear();
    }
    return codes;
  }

  void ExpectEveryCode(const Io& io) {
    std::vector<std::string> scripts;
    std::vector<int> expected;
    for (int code = 0; code < 256; ++code) {
      scripts.push_back("exit " + std::to_string(code));
      expected.push_back(code);
    }
    EXPECT_EQ(ExitCodes(scripts, io), expected);
  }

  void ExpectEveryDeadlySignal(const Io& io) {
    const std::set<int> harmless = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, 32, 33};
    std::vector<std::string> scripts;
    std::vector<int> expected;
    for (int signal = 1; signal <= 64; ++signal) {
      if (harmless.contains(signal)) continue;
      scripts.push_back("ulimit -c 0; kill -" + std::to_string(signal) + " $$");
      expected.push_back(128 + signal);
    }
    EXPECT_EQ(ExitCodes(scripts, io), expected);
  }
};

TEST_F(ProcessTest, ReportsEveryExitCodeOfAPipeProcess) { ExpectEveryCode(Pipes{}); }
TEST_F(ProcessTest, ReportsEveryExitCodeOfATerminalProcess) { ExpectEveryCode(Terminal{}); }
TEST_F(ProcessTest, ReportsASignalAs128PlusItsNumberForPipes) { ExpectEveryDeadlySignal(Pipes{}); }
TEST_F(ProcessTest, ReportsASignalAs128PlusItsNumberForTerminals) { ExpectEveryDeadlySignal(Terminal{}); }

TEST_F(ProcessTest, TellsItsEventsInOrder) {
  Subject& subject = Run(Shell("echo hi"));
  EXPECT_EQ(subject.owner.events, (Events{"started", "output", "exited", "closed", "gone"}));
}

TEST_F(ProcessTest, KeepsTheStreamsApart) {
  Subject& subject = Run(Shell("echo out; echo err >&2"));
  EXPECT_EQ(subject.owner.out(), "out\n");
  EXPECT_EQ(subject.owner.err(), "err\n");
  EXPECT_EQ(subject->output_bytes(), 8u);
}

TEST_F(ProcessTest, NumbersItsEventsFromOneWithoutAGap) {
  Subject& subject = Run(Shell("for i in 1 2 3 4 5 6 7 8; do echo $i; echo $i >&2; sleep 0.005; done"));
  const auto& seqs = subject.owner.seqs;
  ASSERT_GE(seqs.size(), 4u);
  for (size_t i = 0; i < seqs.size(); ++i) EXPECT_EQ(seqs[i], i + 1);
  EXPECT_EQ(subject->next_seq(), seqs.size() + 1);
}

TEST_F(ProcessTest, KeepsWhatItTellsInTheLogAndTheSnapshot) {
  limits_ = {.retained_bytes = 8, .retained_chunks = 100, .snapshot_bytes_per_stream = 4};
  Subject& subject = Run(Shell("printf 0123456789; printf e >&2"));
  const Snapshot snapshot = subject->log().TakeSnapshot();
  EXPECT_EQ(snapshot.out, "0189");
  EXPECT_EQ(snapshot.err, "e");
  EXPECT_EQ(snapshot.omitted_bytes, 6u);
  EXPECT_LE(subject->log().bytes(), 18u);  // one chunk, and the bytes that are kept of the others for snapshots
}

TEST_F(ProcessTest, ExitsBeforeItClosesWhileADescendantHoldsItsOutput) {
  Subject& subject = Launch(Shell("sleep 1000 & echo done; exit 4"));
  ASSERT_TRUE(RunUntil([&] { return subject->exit_code().has_value(); }));
  EXPECT_EQ(subject->exit_code(), 4);
  EXPECT_FALSE(subject->closed());
  EXPECT_FALSE(subject->gone());
  EXPECT_EQ(subject.owner.out(), "done\n");
  subject->Kill({});
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 4);
  EXPECT_THAT(subject.owner.seqs, ElementsAre(1, 2, 3));
}

TEST_F(ProcessTest, TellsLateOutputAfterTheExit) {
  Subject& subject = Launch(Shell("exec 3<&0; (read go <&3; echo late) & exit 0"), kOpenStdin);
  ASSERT_TRUE(RunUntil([&] { return subject->exit_code().has_value(); }));
  subject->input()->Write(0, "go\n", [](auto) {});
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  std::erase(subject.owner.events, "gone");  // the end of the stream and the end of the keeper come together
  EXPECT_EQ(subject.owner.events, (Events{"started", "exited", "output", "closed"}));
  EXPECT_EQ(subject.owner.out(), "late\n");
}

TEST_F(ProcessTest, ClosesBeforeItIsGoneWhileADescendantHoldsNothing) {
  Subject& subject = Launch(Shell("setsid sleep 1000 >/dev/null 2>&1 </dev/null & exit 0"));
  ASSERT_TRUE(RunUntil([&] { return subject->closed(); }));
  EXPECT_FALSE(subject->gone());
}

TEST_F(ProcessTest, IsNotClosedBeforeTheCloseHasItsNumber) {
  struct AskingOwner : RecordingOwner {
    void OnExited(Process& process, uint64_t seq) override {
      RecordingOwner::OnExited(process, seq);
      closed_at_exit = process.closed();
    }
    void OnClosed(Process& process, uint64_t seq) override {
      RecordingOwner::OnClosed(process, seq);
      EXPECT_TRUE(process.closed());
      EXPECT_EQ(process.next_seq(), seq + 1);
    }
    bool closed_at_exit = true;
  } owner;
  auto process = Process::Start(loop_, *spawner_, Shell("exit 0"), Pipes{}, limits_, owner);
  ASSERT_TRUE(process);
  ASSERT_TRUE(RunUntil([&] { return (*process)->closed() && (*process)->gone(); }));
  EXPECT_FALSE(owner.closed_at_exit);
}

TEST_F(ProcessTest, ReadsNothingBeforeTheFirstResume) {
  struct SilentOwner : RecordingOwner {
    void OnStarted(Process&) override { events.emplace_back("started"); }
  } owner;
  const size_t fds_before = support::CountFds(::getpid());
  auto process = Process::Start(loop_, *spawner_, Shell("echo hi"), Pipes{}, limits_, owner);
  ASSERT_TRUE(process);
  ASSERT_TRUE(RunUntil([&] { return (*process)->gone(); }));
  EXPECT_EQ(owner.events, (Events{"started", "exited", "gone"}));
  (*process)->ResumeOutput();
  ASSERT_TRUE(RunUntil([&] { return (*process)->closed(); }));
  EXPECT_EQ(owner.events, (Events{"started", "exited", "gone", "output", "closed"}));
  EXPECT_EQ(support::CountFds(::getpid()), fds_before) << "what closes last of all gives its descriptors back too";
}

TEST_F(ProcessTest, SignalsTheWholeGroup) {
  const std::string child = "(trap 'echo child; exit' TERM; echo up; while :; do :; done) & ";
  Subject& subject = Launch(Shell("trap 'wait; exit 5' TERM; " + child + "while :; do :; done"));
  ASSERT_TRUE(RunUntilOutput(subject, "up"));
  subject->Signal(SIGTERM);
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject->exit_code(), 5);
  EXPECT_EQ(subject.owner.out(), "up\nchild\n");
}

TEST_F(ProcessTest, TakesSignalsAndKillsAfterItIsGone) {
  Subject& subject = Run(Shell("exit 3"));
  subject->Signal(SIGINT);
  subject->Kill(CountDone());
  EXPECT_EQ(done_, 1);
  subject->Terminate(std::chrono::seconds(1), [] {});
  EXPECT_EQ(subject->exit_code(), 3);
}

TEST_F(ProcessTest, CancelsAStartThatIsKilledAtOnce) {
  Subject& subject = Launch(Shell("echo never seen; sleep 1000"));
  size_t events_at_done = 99;
  subject->Kill([&] { events_at_done = subject.owner.events.size(); });
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject.owner.events, (Events{"failed", "gone"}));
  EXPECT_EQ(events_at_done, 0u);
  EXPECT_EQ(subject.owner.error->kind, ErrorKind::kInvalidRequest);
  EXPECT_EQ(subject->phase(), Process::Phase::kFailed);
}

TEST_F(ProcessTest, LeavesAQuickStartAloneThatSomebodyWasReadyToCancel) {
  constexpr std::chrono::milliseconds patience = 3s;
  Subject& subject = Launch(Shell("read go; echo alive"), kOpenStdin);
  subject->CancelSlowStart(patience);
  ASSERT_TRUE(RunUntil([&] { return subject->pid().has_value(); }));
  bool over = false;
  loop::Timer later(loop_, [&] { over = true; });
  later.Start(patience + 100ms);
  ASSERT_TRUE(RunUntil([&] { return over; }));
  subject->input()->Write(0, "go\n", [](auto) {});
  ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
  EXPECT_EQ(subject.owner.out(), "alive\n");
}

TEST_F(ProcessTest, DrainsAFullPipeBeforeItTellsTheExit) {
  for (int i = 0; i < 20; ++i) {
    Subject& subject = Launch(Shell("exec head -c 60000 /dev/zero"));
    // The loop does not run, so the start, the output and the exit have all happened before the test looks.
    ASSERT_TRUE(
        support::Eventually([&] { return support::ChildrenOf(support::ChildrenOf(::getpid()).at(0)).empty(); }));
    ASSERT_TRUE(RunUntil([&] { return subject.over(); }));
    EXPECT_EQ(subject.owner.events, (Events{"started", "output", "exited", "closed", "gone"}));
    EXPECT_EQ(subject.owner.out().size(), 60000u);
  }
}

}  // namespace
}  // namespace holdfast::process
