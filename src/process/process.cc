#include "process/process.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace holdfast::process {
namespace {

// What is read before an exit is published, so that in the usual case all output precedes it. A descendant that writes
// for ever must not delay the exit for ever.
constexpr size_t kDrainBytes = 1u << 20;

// Output that a wrapped command wrote last may come after its exit: whether it failed because something was denied is
// decided by what it said.
constexpr std::chrono::milliseconds kLastOutputPatience{20};

// The exit code of a command whose keeper was killed: the kernel kills the command with it.
constexpr int kKilledExitCode = 128 + SIGKILL;

Error StartError(StartStep step, const std::string& program, const std::string& cwd, int errno_value) {
  auto failed = [&](std::string_view what) {
    return Error{ErrorKind::kSystem, fmt::format("{}: {} (os error {})", what, ErrnoText(errno_value), errno_value)};
  };
  if (step == StartStep::kDirectory) return failed(fmt::format("enter directory {}", cwd));
  if (step == StartStep::kTerminal) return failed("attach the terminal");
  return failed(fmt::format("execute {}", program));
}

}  // namespace

Process::Process(loop::EventLoop& loop, const OutputLimits& limits, ProcessOwner& owner)
    : owner_(owner),
      log_(limits),
      grace_timer_(loop, [this] { Kill({}); }),
      last_output_timer_(loop, [this] { PublishExit(*withheld_exit_code_); }) {}

Result<std::unique_ptr<Process>> Process::Start(loop::EventLoop& loop, Spawner& spawner, const Command& command,
                                                const Io& io, const OutputLimits& limits, ProcessOwner& owner) {
  TRY(Stdio stdio, OpenStdio(io));
  TRY(StartedKeeper started,
      spawner.Start(command, io, {stdio.child_in.get(), stdio.child_out.get(), stdio.child_err.get()}));
  std::unique_ptr<Process> process(new Process(loop, limits, owner));
  process->program_ = command.program;
  process->cwd_ = command.cwd;
  process->keeper_ =
      std::make_unique<Keeper>(loop, spawner, std::move(started), static_cast<KeeperObserver&>(*process));
  process->Adopt(loop, std::move(stdio), std::holds_alternative<Terminal>(io));
  if (command.wrapper) {
    process->wrapped_ = true;
    auto on_report = [observer = process.get()](const Result<>& verdict) { observer->OnReport(verdict); };
    process->report_.emplace(loop, command.wrapper->report, std::move(on_report));
  }
  return process;
}

void Process::Adopt(loop::EventLoop& loop, Stdio stdio, bool terminal) {
  terminal_ = terminal;
  has_input_ = stdio.input.is_open();
  if (has_input_) {
    auto kind = terminal ? StdinQueue::Kind::kTerminal : StdinQueue::Kind::kPipe;
    input_ = std::make_unique<StdinQueue>(loop, std::move(stdio.input), kind);
  }
  auto add_output = [&](OwnedFd fd, Stream stream) {
    outputs_.push_back(
        std::make_unique<OutputStream>(loop, std::move(fd), stream, static_cast<OutputStream::Owner&>(*this)));
  };
  add_output(std::move(stdio.output), terminal ? Stream::kTerminal : Stream::kStdout);
  if (stdio.error.is_open()) add_output(std::move(stdio.error), Stream::kStderr);
}

void Process::ResumeOutput() {
  output_begun_ = true;
  for (auto& output : outputs_) output->Resume();
}

Result<> Process::Resize(sys::WindowSize size) {
  if (!terminal_) return Fail(ErrorKind::kInvalidRequest, "the process has no terminal");
  if (closed_ || !input_->is_open()) return {};  // nobody is left to see it
  return sys::SetWindowSize(input_->fd(), size);
}

void Process::Signal(int signal) {
  if (!gone_ && !exit_code_) keeper_->Signal(signal);
}

void Process::Kill(loop::Callback done) {
  if (done) kill_callbacks_.push_back(std::move(done));
  if (gone_) return AnswerKills();
  killing_ = true;
  grace_timer_.Stop();
  last_output_timer_.Stop();  // an exit that is withheld now waits for the answer
  keeper_->KillAll();
}

void Process::Terminate(std::chrono::milliseconds grace, loop::Callback done) {
  if (gone_ || killing_) return Kill(std::move(done));
  kill_callbacks_.push_back(std::move(done));
  keeper_->Signal(SIGTERM);
  // Of several deadlines the earliest counts.
  auto deadline = std::chrono::steady_clock::now() + grace;
  if (grace_timer_.running() && grace_deadline_ <= deadline) return;
  grace_deadline_ = deadline;
  grace_timer_.Start(grace);
}

void Process::CancelSlowStart(std::chrono::milliseconds patience) {
  if (phase_ == Phase::kStarting && !grace_timer_.running()) grace_timer_.Start(patience);
}

void Process::OnStarted(pid_t pid) {
  if (killing_) return;  // OnGone tells of a start that was cancelled
  pid_ = pid;
  if (!report_) return BeginRunning();
  report_->Watch();
}

void Process::BeginRunning() {
  if (kill_callbacks_.empty()) grace_timer_.Stop();  // else it runs for a Terminate
  phase_ = Phase::kStarted;
  owner_.OnStarted(*this);
}

void Process::OnReport(const Result<>& verdict) {
  if (phase_ != Phase::kStarting || killing_) return;
  if (verdict) return BeginRunning();
  FailStart(verdict.error());
  keeper_->KillAll();  // it is about to end anyway
}

void Process::OnStartFailed(StartStep step, int errno_value) {
  FailStart(StartError(step, program_, cwd_, errno_value));
}

void Process::FailStart(const Error& error) {
  phase_ = Phase::kFailed;
  owner_.OnStartFailed(*this, error);
  waiters_.Notify();
}

void Process::OnExited(int exit_code) {
  exited_at_ = std::chrono::system_clock::now();
  if (report_) report_->ReadRest();  // who would have said more has ended
  if (phase_ == Phase::kFailed) return;
  if (killing_) {
    withheld_exit_code_ = exit_code;
    return;
  }
  for (auto& output : outputs_) output->Drain(kDrainBytes);
  if (!wrapped_ || OutputHasEnded()) return PublishExit(exit_code);
  withheld_exit_code_ = exit_code;
  last_output_timer_.Start(kLastOutputPatience);
}

bool Process::OutputHasEnded() const {
  return std::ranges::all_of(outputs_, [](auto& output) { return output->at_end(); });
}

void Process::OnGone() {
  gone_ = true;
  grace_timer_.Stop();
  report_.reset();
  if (killing_ && phase_ == Phase::kStarted) {
    for (auto& output : outputs_) output->EndWhenDry();
  }
  AnswerKills();
  if (phase_ == Phase::kStarting) {
    FailStart(killing_ ? Error{ErrorKind::kInvalidRequest, "the start was cancelled"}
                       : Error{ErrorKind::kSystem, "the command's keeper was killed while it started"});
  }
  if (last_output_timer_.running()) {  // who could write more has ended: all of it precedes the exit
    last_output_timer_.Stop();
    for (auto& output : outputs_) output->Drain(kDrainBytes);
  }
  if (phase_ == Phase::kStarted && !exit_code_) PublishExit(withheld_exit_code_.value_or(kKilledExitCode));
  if (closed_) {  // only the output is of interest from here on: give the rest back
    outputs_.clear();
    input_bytes_ = input_bytes();
    input_.reset();
  }
  owner_.OnGone(*this);
  keeper_.reset();  // the caller: this is its last call
}

void Process::OnBytes(Stream stream, std::string_view bytes) {
  output_bytes_ += bytes.size();
  owner_.OnOutput(*this, log_.Append(next_seq_++, stream, bytes));
  waiters_.Notify();
  if (last_output_timer_.running()) PublishExit(*withheld_exit_code_);
}

void Process::OnEndOfStream() {
  if (last_output_timer_.running() && OutputHasEnded()) return PublishExit(*withheld_exit_code_);
  PublishClosedWhenDone();
}

void Process::PublishExit(int exit_code) {
  last_output_timer_.Stop();
  exit_code_ = exit_code;
  if (!exited_at_) exited_at_ = std::chrono::system_clock::now();
  owner_.OnExited(*this, next_seq_++);
  waiters_.Notify();
  PublishClosedWhenDone();
}

void Process::PublishClosedWhenDone() {
  if (!exit_code_ || closed_ || !OutputHasEnded()) return;
  closed_ = true;
  if (input_) input_->Abandon();
  if (gone_) {  // else OnGone is about to do this
    for (auto& output : outputs_) output->Close();
  }
  owner_.OnClosed(*this, next_seq_++);
  waiters_.Notify();
}

void Process::AnswerKills() {
  std::vector<loop::Callback> callbacks = std::move(kill_callbacks_);
  kill_callbacks_.clear();
  for (loop::Callback& done : callbacks) done();
}

}  // namespace holdfast::process
