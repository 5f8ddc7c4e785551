// A process of a supervised tree is killed, or the supervision ends, at one of the ten moments of an execution that are
// listed below (Moment); between them an execution passes through others, at which a test cannot hold it. The moment is
// reached when an event shows it, and lasts until the test goes on. Afterwards no process and no descriptor is left.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random_id.h"
#include "escalate/seccomp/supervised_fixture.h"
#include "support/proc.h"

namespace holdfast::escalate {
namespace {

namespace fs = std::filesystem;
using exec_policy::Action;
using testing::EndsWith;

// A point that the thread of the supervisor reaches and waits at.
class Gate {
 public:
  void Hold() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    EXPECT_TRUE(opened_.wait_for(lock, support::kPatience, [&] { return open_; }));
  }
  bool reached() const {
    const std::lock_guard lock(mutex_);
    return reached_;
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  bool reached_ = false, open_ = false;
};

// A command outside whose end is not told.
class SilentCommand final : public OutsideCommand, public OutsideObserver {
 public:
  explicit SilentCommand(bool& has_ended) : has_ended_(has_ended) {}

  void Signal(int signal) override { command_->Signal(signal); }
  void OnStopped(int, unsigned) override {}
  void OnEnded(const Ending&) override { has_ended_ = true; }
  void Watch(std::unique_ptr<OutsideCommand> command) { command_ = std::move(command); }

 private:
  bool& has_ended_;
  std::unique_ptr<OutsideCommand> command_;
};

enum class Moment {
  kFirstJudgement,   // the call was read
  kSecondJudgement,  // the file of the program was looked at
  kQuestion,         // the approver was asked
  kHeldExecution,    // the execution of the stub was let through, and another tracer holds it up
  kRefusal,          // the stub writes the reason of a denial, which nobody reads
  kBeforeStart,      // the stub has handed its descriptors over, and the command outside is about to be started
  kOutside,          // the command runs outside
  kStop,             // the command outside has stopped, and the stub with it
  kEnd,              // the command outside has ended, and the stub does not know it
  kStrict,           // the stub has executed the program
};
enum class Victim {
  kCaller,       // the process that calls execve, and becomes the stub
  kShell,        // its parent; the caller is killed later
  kTree,         // both
  kSupervision,  // the supervisor ends, as it does with the server
};

struct Case {
  std::string name;
  Moment moment;
  Victim victim;
  int status = 128 + SIGKILL;  // of the caller, as its parent sees it if that lives
};
void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

class SupervisedKillTest : public SupervisedFixture, public testing::WithParamInterface<Case> {
 protected:
  SupervisedKillTest() {
    environment_.push_back(mark_);
    // The first supervision of a process opens descriptors that stay open.
    const auto first = Start({"/bin/true"});
    EXPECT_TRUE(RunLoopUntil([&] { return first->HasEnded() && !HasListener(); }));
    idle_fds_ = support::CountFds(::getpid());
  }

  // The child of the shell, which has told its number before it called execve.
  pid_t caller() const {
    const pid_t pid = std::atoi(command_->out().c_str());
    if (pid <= 1) std::abort();  // a signal to such a number would kill other processes
    return pid;
  }

  Moment moment() const { return GetParam().moment; }

  void StartCommand() {
    WriteProgram();
    Decide("program", DecisionAt(moment()));
    SupervisorSettings settings = moment() == Moment::kStrict ? Strict() : SupervisorSettings{};
    settings.judge = [this](const exec_policy::ExecAttempt& attempt) { return HoldAndJudge(attempt); };
    command_ = Start(CommandWords(), std::move(settings));
    ASSERT_TRUE(RunLoopUntil([&] { return command_->out().contains('\n'); }));
  }

  void AwaitMoment() {
    ASSERT_TRUE(RunLoopUntil([&] { return IsReached(); }));
  }

  void Kill(Victim victim) {
    if (victim == Victim::kCaller) ASSERT_EQ(::kill(caller(), SIGKILL), 0);
    if (victim == Victim::kShell) ASSERT_EQ(::kill(command_->pid(), SIGKILL), 0);
    if (victim == Victim::kTree) ASSERT_EQ(::kill(-command_->pid(), SIGKILL), 0);
    if (victim == Victim::kSupervision) supervision_.reset();
  }

  // Ends what only the test holds up.
  void GoOn() {
    gate_.Open();
    const Victim victim = GetParam().victim;
    if (victim == Victim::kShell) {
      EXPECT_TRUE(support::IsAlive(caller()));
      ASSERT_EQ(::kill(caller(), SIGKILL), 0);
    }
    if (victim == Victim::kSupervision && moment() == Moment::kStop) ASSERT_EQ(::kill(caller(), SIGCONT), 0);
    if (victim == Victim::kSupervision && moment() == Moment::kRefusal) DrainPipe();
  }

  void ExpectThatNothingIsLeft() {
    EXPECT_TRUE(RunLoopUntil([&] { return command_->HasEnded(); })) << command_->out();
    EXPECT_TRUE(RunLoopUntil([&] { return support::LivingWithVariable(mark_).empty(); }));
    EXPECT_TRUE(RunLoopUntil([&] { return approver_.open == 0; }));
    pipe_.Reset();
    EXPECT_TRUE(RunLoopUntil([&] { return !HasListener() && support::CountFds(::getpid()) <= idle_fds_; }))
        << support::CountFds(::getpid()) << " descriptors instead of " << idle_fds_;
  }

  Result<std::unique_ptr<OutsideCommand>> StartOutsideOf(OutsideOrder order, OutsideObserver& observer) override {
    if (moment() == Moment::kBeforeStart) {
      starts_ = true;
      Kill(GetParam().victim);
    }
    if (moment() != Moment::kEnd) return SupervisedFixture::StartOutsideOf(std::move(order), observer);
    auto silent = std::make_unique<SilentCommand>(ended_);
    TRY(auto command, SupervisedFixture::StartOutsideOf(std::move(order), *silent));
    silent->Watch(std::move(command));
    return silent;
  }

  std::unique_ptr<RunningCommand> command_;

 private:
  static exec_policy::Judgement DecisionAt(Moment moment) {
    if (moment == Moment::kRefusal || moment == Moment::kHeldExecution)
      return {.action = Action::kDeny, .reason = "no"};
    if (moment == Moment::kQuestion) return {.action = Action::kRun, .asks = true};
    if (moment == Moment::kStrict) return {};
    return {.action = Action::kEscalate};
  }

  void WriteProgram() {
    std::string script = "#!/bin/sh\n: > " + ran_ + "\n";
    if (moment() == Moment::kStop) script += "kill -STOP $$\n";
    if (moment() != Moment::kEnd) script += "exec sleep 1234\n";
    scratch_.Write("program", script, 0755);
  }

  // A shell whose child tells its number and then executes the program. The shell lives on, and executes another one.
  Words CommandWords() {
    if (moment() == Moment::kHeldExecution) return {CallerProgram(), "held-by-thread", program_};
    std::string child = "echo $$; exec \"$0\"";
    if (moment() == Moment::kRefusal) child += " 2> " + MakeFullPipe();
    return {"/bin/bash", "-c", fmt::format("/bin/sh -c '{}' {}; s=$?; /bin/true; echo status $s", child, program_)};
  }

  std::string MakeFullPipe() {
    const std::string path = scratch_.path() + "/pipe";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    pipe_ = OwnedFd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    const std::string chunk(4096, 'x');
    while (::write(pipe_.get(), chunk.data(), chunk.size()) > 0) continue;
    return path;
  }
  void DrainPipe() {
    char chunk[4096];
    while (::read(pipe_.get(), chunk, sizeof chunk) > 0) continue;
  }

  exec_policy::Judgement HoldAndJudge(const exec_policy::ExecAttempt& attempt) {
    if (attempt.file == program_) {
      const int count = ++judgements_of_program_;
      if (moment() == Moment::kFirstJudgement && count == 1) gate_.Hold();
      if (moment() == Moment::kSecondJudgement && count == 2) gate_.Hold();
    }
    return Judge(attempt);
  }

  bool IsReached() {
    switch (moment()) {
      case Moment::kFirstJudgement:
      case Moment::kSecondJudgement:
        return gate_.reached();
      case Moment::kQuestion:
        return approver_.open == 1;
      case Moment::kHeldExecution:
        return command_->out() == "held\n";
      case Moment::kRefusal:  // the stub is in write(2, ...)
        return support::ReadProcFile(caller(), "syscall").value_or("").starts_with("1 0x2 ");
      case Moment::kBeforeStart:
        return starts_;
      case Moment::kOutside:
      case Moment::kStrict:
        return ::access(ran_.c_str(), F_OK) == 0;
      case Moment::kStop:
        return support::ReadProcFile(caller(), "stat").value_or("").contains(") T ");
      case Moment::kEnd:
        return ended_;
    }
    std::unreachable();
  }

  // The listener is open while a process of the tree is alive.
  static bool HasListener() {
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code closed;
      if (fs::read_symlink(entry.path(), closed) == "anon_inode:seccomp notify") return true;
    }
    return false;
  }

  const std::string mark_ = "HOLDFAST_TEST_MARK=" + RandomUuid();
  const std::string program_ = scratch_.path() + "/program", ran_ = scratch_.path() + "/ran";
  size_t idle_fds_ = 0;
  Gate gate_;
  std::atomic<int> judgements_of_program_ = 0;
  bool starts_ = false, ended_ = false;
  OwnedFd pipe_;
};

TEST_P(SupervisedKillTest, LeavesNothing) {
  const auto& [name, moment, victim, status] = GetParam();
  if (moment == Moment::kRefusal && ::geteuid() != 0) GTEST_SKIP() << "only root sees what the stub waits for";
  ASSERT_NO_FATAL_FAILURE(StartCommand());
  ASSERT_NO_FATAL_FAILURE(AwaitMoment());
  if (moment != Moment::kBeforeStart) ASSERT_NO_FATAL_FAILURE(Kill(victim));
  ASSERT_NO_FATAL_FAILURE(GoOn());
  ExpectThatNothingIsLeft();
  const bool shell_ends = victim == Victim::kCaller || victim == Victim::kSupervision;
  EXPECT_EQ(command_->outcome().status, shell_ends ? 0 : 128 + SIGKILL);
  if (shell_ends) EXPECT_THAT(command_->out(), EndsWith(fmt::format("\nstatus {}\n", status)));
  if (victim == Victim::kCaller) EXPECT_GT(judged("true"), 1u);  // the supervisor goes on; the first is of the fixture
}

constexpr int kCannotBeExecuted = 126, kStubWithoutSupervisor = 125, kDenied = 1;

const Case kCases[] = {
    {"TheCallerAtTheFirstJudgement", Moment::kFirstJudgement, Victim::kCaller},
    {"TheShellAtTheFirstJudgement", Moment::kFirstJudgement, Victim::kShell},
    {"TheTreeAtTheFirstJudgement", Moment::kFirstJudgement, Victim::kTree},
    {"TheCallerAtTheSecondJudgement", Moment::kSecondJudgement, Victim::kCaller},
    {"TheShellAtTheSecondJudgement", Moment::kSecondJudgement, Victim::kShell},
    {"TheTreeAtTheSecondJudgement", Moment::kSecondJudgement, Victim::kTree},
    {"TheCallerThatWaitsForAnAnswer", Moment::kQuestion, Victim::kCaller},
    {"TheShellOfACallerThatWaitsForAnAnswer", Moment::kQuestion, Victim::kShell},
    {"TheTreeThatWaitsForAnAnswer", Moment::kQuestion, Victim::kTree},
    {"TheSupervisionThatWaitsForAnAnswer", Moment::kQuestion, Victim::kSupervision, kCannotBeExecuted},
    {"TheTreeWhoseExecutionIsHeldUp", Moment::kHeldExecution, Victim::kTree},
    {"TheStubThatRefuses", Moment::kRefusal, Victim::kCaller},
    {"TheShellOfAStubThatRefuses", Moment::kRefusal, Victim::kShell},
    {"TheTreeOfAStubThatRefuses", Moment::kRefusal, Victim::kTree},
    {"TheSupervisionOfAStubThatRefuses", Moment::kRefusal, Victim::kSupervision, kDenied},
    {"TheStubBeforeTheCommandOutsideStarts", Moment::kBeforeStart, Victim::kCaller},
    {"TheShellBeforeTheCommandOutsideStarts", Moment::kBeforeStart, Victim::kShell},
    {"TheTreeBeforeTheCommandOutsideStarts", Moment::kBeforeStart, Victim::kTree},
    {"TheStubOfACommandOutside", Moment::kOutside, Victim::kCaller},
    {"TheShellOfACommandOutside", Moment::kOutside, Victim::kShell},
    {"TheTreeOfACommandOutside", Moment::kOutside, Victim::kTree},
    {"TheSupervisionOfACommandOutside", Moment::kOutside, Victim::kSupervision, kStubWithoutSupervisor},
    {"TheStubOfAStoppedCommand", Moment::kStop, Victim::kCaller},
    {"TheShellOfAStoppedCommand", Moment::kStop, Victim::kShell},
    {"TheTreeOfAStoppedCommand", Moment::kStop, Victim::kTree},
    {"TheSupervisionOfAStoppedCommand", Moment::kStop, Victim::kSupervision, kStubWithoutSupervisor},
    {"TheStubOfACommandThatHasEnded", Moment::kEnd, Victim::kCaller},
    {"TheShellOfACommandThatHasEnded", Moment::kEnd, Victim::kShell},
    {"TheTreeOfACommandThatHasEnded", Moment::kEnd, Victim::kTree},
    {"TheSupervisionOfACommandThatHasEnded", Moment::kEnd, Victim::kSupervision, kStubWithoutSupervisor},
    {"TheProgramOfAStrictSupervisor", Moment::kStrict, Victim::kCaller},
    {"TheShellOfAStrictSupervisor", Moment::kStrict, Victim::kShell},
    {"TheTreeOfAStrictSupervisor", Moment::kStrict, Victim::kTree},
};

INSTANTIATE_TEST_SUITE_P(Of, SupervisedKillTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

}  // namespace
}  // namespace holdfast::escalate
