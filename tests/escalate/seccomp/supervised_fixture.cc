#include "escalate/seccomp/supervised_fixture.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <ostream>
#include <utility>

#include "escalate/outside/outside_command.h"
#include "support/loop_runner.h"
#include "sys/argv.h"
#include "sys/descriptor_passing.h"
#include "sys/exit_status.h"
#include "sys/io.h"
#include "sys/pidfd.h"

namespace holdfast::escalate {
namespace {

using exec_policy::Action;
using exec_policy::Judgement;

constexpr int kFirstPassedFd = 3;

// Installs the filter of a supervised command, as the helper does.
int InstallFilterInChild() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = std::size(code), .filter = code};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  constexpr unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | 1u << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

[[noreturn]] void BecomeInChild(char* const* argv, char* const* environment, int supervisor, int out, int err) {
  ::setsid();
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  if (supervisor >= 0) {
    const int listener = InstallFilterInChild();
    char byte = 0;
    if (listener < 0 || !sys::SendWithDescriptor(supervisor, {&byte, 1}, listener)) ::_exit(98);
    ::close(listener);
    if (::read(supervisor, &byte, 1) != 1) ::_exit(97);
  }
  ::syscall(SYS_close_range, kFirstPassedFd, ~0U, 0);
  ::execve(argv[0], argv, environment);
  ::_exit(99);
}

std::string ReadAll(int fd) {
  struct stat status;
  ::fstat(fd, &status);
  std::string text(static_cast<size_t>(status.st_size), '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(::pread(fd, text.data(), text.size(), 0), 0)));
  return text;
}

}  // namespace

void PrintTo(const CommandOutcome& outcome, std::ostream* out) {
  *out << "status " << outcome.status << "\nout: " << outcome.out << "\nerr: " << outcome.err;
}

loop::Task<Answer> HeldApprover::Ask(Question question) {
  struct Open {
    explicit Open(int& count) : count_(count) { ++count_; }
    ~Open() { --count_; }
    int& count_;
  } const counted(open);
  asked.push_back(std::move(question));
  while (!answer_) co_await answered_.Next();
  co_return *answer_;
}

void HeldApprover::AnswerAll(Answer answer) {
  answer_ = std::move(answer);
  answered_.Notify();
}

RunningCommand::RunningCommand(const Words& words, int supervisor, const Words& environment)
    : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
  sys::Argv argv(words), variables(environment);
  pid_ = ::fork();
  if (pid_ == 0) BecomeInChild(argv.data(), variables.data(), supervisor, out_.get(), err_.get());
  pidfd_ = *sys::OpenPidfd(pid_);
}

RunningCommand::~RunningCommand() {
  if (pid_ <= 0 || HasEnded()) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

// The supervisor is a thread of the test. While it traces a child of the test, a wait of the test would take the stops
// that the supervisor waits for. So there is no wait before the child has ended.
bool RunningCommand::HasEnded() {
  if (status_ || !sys::HasEnded(pidfd_.get())) return status_.has_value();
  int status = 0;
  if (::waitpid(pid_, &status, 0) == pid_) status_ = sys::ExitStatusOf(status);
  return true;
}

CommandOutcome RunningCommand::outcome() const {
  return {.status = status_.value_or(-1), .out = ReadAll(out_.get()), .err = ReadAll(err_.get())};
}

std::string RunningCommand::out() const { return ReadAll(out_.get()); }

SupervisedFixture::SupervisedFixture() {
  (void)sys::ReserveLowFds();
  spawner_ = *process::Spawner::Create(loop_);
}

SupervisedFixture::~SupervisedFixture() {
  supervision_.reset();
  support::RunReady(loop_);
}

void SupervisedFixture::Decide(const std::string& name, Judgement judgement) { decisions_[name] = judgement; }

void SupervisedFixture::Deny(const std::string& name, std::string reason) {
  Decide(name, {.action = Action::kDeny, .reason = std::move(reason)});
}

void SupervisedFixture::AskAbout(const std::string& name, Action when_approved) {
  Decide(name, {.action = when_approved, .asks = true, .reason = "it is wanted"});
}

Judgement SupervisedFixture::Judge(const exec_policy::ExecAttempt& attempt) {
  judgements_.Add(attempt);
  const auto decision = decisions_.find(BaseName(attempt.file));
  return decision != decisions_.end() ? decision->second : Judgement{};
}

std::unique_ptr<RunningCommand> SupervisedFixture::Start(const Words& words, SupervisorSettings settings) {
  if (!settings.judge) settings.judge = [this](const exec_policy::ExecAttempt& attempt) { return Judge(attempt); };
  if (settings.environment.empty()) settings.environment = StartEnvironment();
  StartOutside start = [this](OutsideOrder order, OutsideObserver& observer) {
    ++started_outside_;
    return StartOutsideOf(std::move(order), observer);
  };
  supervision_.reset();
  auto supervision = Supervision::Create(loop_, approver_, std::move(start), std::move(settings));
  EXPECT_TRUE(supervision) << supervision.error().message;
  supervision_ = *std::move(supervision);
  return std::make_unique<RunningCommand>(words, supervision_->helper_socket()->get(), environment_);
}

process::Environment SupervisedFixture::StartEnvironment() const {
  process::Environment variables;
  for (const std::string& entry : environment_) {
    const size_t end = entry.find('=');
    variables.emplace_back(entry.substr(0, end), entry.substr(end + 1));
  }
  return variables;
}

Result<std::unique_ptr<OutsideCommand>> SupervisedFixture::StartOutsideOf(OutsideOrder order,
                                                                          OutsideObserver& observer) {
  return OutsideCommand::Start(loop_, *spawner_, std::move(order), observer);
}

CommandOutcome SupervisedFixture::Run(const Words& words, SupervisorSettings settings) {
  const auto command = Start(words, std::move(settings));
  EXPECT_TRUE(RunLoopUntil([&] { return command->HasEnded(); })) << command->outcome().err;
  return command->outcome();
}

CommandOutcome SupervisedFixture::RunShell(const std::string& script, SupervisorSettings settings) {
  return Run({"/bin/bash", "-c", script}, std::move(settings));
}

CommandOutcome SupervisedFixture::RunNatively(const Words& words) {
  RunningCommand command(words, -1, environment_);
  EXPECT_TRUE(RunLoopUntil([&] { return command.HasEnded(); })) << command.outcome().err;
  return command.outcome();
}

bool SupervisedFixture::RunLoopUntil(const std::function<bool()>& done, std::chrono::milliseconds patience) {
  return support::RunUntil(loop_, done, patience);
}

std::string CallerProgram() { return HOLDFAST_EXEC_CALLER; }

}  // namespace holdfast::escalate
