#include "process/process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "process/wrapped_command.h"
#include "sys/exit_status.h"

namespace holdfast::process {
namespace {

// The most that is read from a stream before an exit is published, so that in the usual case all output precedes the
// exit. A descendant that writes for ever must not delay the exit for ever.
constexpr size_t kDrainBytes = 1u << 20;

// The exit of a wrapped command waits this long for output that reaches the server after the exit does. That output
// also decides whether the command failed because the sandbox denied something.
constexpr std::chrono::milliseconds kLastOutputPatience{20};

Life NewLife(Life::StartedBy started_by) {
  if (started_by == Life::StartedBy::kReport) return {started_by, Life::LastOutput::kMayFollow};
  return {started_by, Life::LastOutput::kPrecedesExit};
}

Error StartError(StartStep step, const std::string& program, const std::string& cwd, int errno_value) {
  auto failed = [&](ErrorKind kind, std::string_view what) {
    return Error{kind, fmt::format("{}: {} (os error {})", what, ErrnoText(errno_value), errno_value)};
  };
  if (step == StartStep::kDirectory) return failed(ErrorKind::kSystem, fmt::format("enter directory {}", cwd));
  if (step == StartStep::kTerminal) return failed(ErrorKind::kSystem, "attach the terminal");
  const auto kind = errno_value == ENOENT ? ErrorKind::kNoSuchProgram : ErrorKind::kCannotExecute;
  return failed(kind, fmt::format("execute {}", program));
}

}  // namespace

Process::Process(loop::EventLoop& loop, const WatchedStart& start, const OutputLimits& limits, ProcessOwner& owner)
    : owner_(owner),
      life_(NewLife(start.started_by)),
      log_(limits),
      grace_timer_(loop, [this] { Perform(life_.OnGraceTimer()); }),
      last_output_timer_(loop, [this] { Perform(life_.OnLastOutputTimer()); }),
      program_(start.program),
      cwd_(start.cwd) {}

Result<std::unique_ptr<Process>> Process::Start(loop::EventLoop& loop, Spawner& spawner, const Command& command,
                                                const Io& io, const OutputLimits& limits, ProcessOwner& owner) {
  auto begin = [&](const Stdio& stdio, CommandObserver& observer) {
    const StdioFds fds{stdio.child_in.get(), stdio.child_out.get(), stdio.child_err.get()};
    return StartUnderKeeper(loop, spawner, command, io, fds, observer);
  };
  WatchedStart start{.begin = std::move(begin),
                     .started_by = command.wrapper ? Life::StartedBy::kReport : Life::StartedBy::kExecution,
                     .program = command.program,
                     .cwd = command.cwd};
  return Start(loop, std::move(start), io, limits, owner);
}

Result<std::unique_ptr<Process>> Process::Start(loop::EventLoop& loop, WatchedStart start, const Io& io,
                                                const OutputLimits& limits, ProcessOwner& owner) {
  TRY(Stdio stdio, OpenStdio(io));
  std::unique_ptr<Process> process(new Process(loop, start, limits, owner));
  TRY(process->watch_, start.begin(stdio, static_cast<CommandObserver&>(*process)));
  process->Adopt(loop, std::move(stdio), std::holds_alternative<Terminal>(io));
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
  if (closed() || !input_->is_open()) return {};  // no process is left to see the size
  return sys::SetWindowSize(input_->fd(), size);
}

void Process::Signal(int signal) {
  if (!gone() && !exit_code()) watch_->Signal(signal);
}

void Process::Kill(loop::Callback done) {
  if (done) kill_callbacks_.push_back(std::move(done));
  Perform(life_.OnKill());
}

void Process::Terminate(std::chrono::milliseconds grace, loop::Callback done) {
  if (done) kill_callbacks_.push_back(std::move(done));
  asked_grace_ = grace;
  Perform(life_.OnTerminate());
}

void Process::CancelSlowStart(std::chrono::milliseconds patience) {
  asked_grace_ = patience;
  Perform(life_.OnStartLimit());
}

void Process::OnStarted(pid_t pid) {
  pid_ = pid;
  Perform(life_.OnExecuted());
}

void Process::OnStartFailed(StartStep step, int errno_value) {
  start_error_ = StartError(step, program_, cwd_, errno_value);
  // What could not be executed is then the wrapper, and not the program of the command.
  if (life_.started_by() == Life::StartedBy::kReport) start_error_.kind = ErrorKind::kSystem;
  Perform(life_.OnExecutionFailed());
}

void Process::OnReport(const Result<Enforcement>& outcome) {
  if (outcome) {
    enforcement_ = *outcome;
    return Perform(life_.OnStartReported());
  }
  start_error_ = outcome.error();
  Perform(life_.OnFailureReported());
}

void Process::OnExited(int wait_status) {
  exited_at_ = std::chrono::system_clock::now();
  if (WIFSIGNALED(wait_status)) end_signal_ = WTERMSIG(wait_status);
  Perform(life_.OnExited(sys::ExitStatusOf(wait_status)));
  Perform(life_.OnDrained());
}

void Process::OnGone() {
  Perform(life_.OnAllDead());
  Perform(life_.OnGone());
  watch_.reset();  // watch_ is the caller, and this is its last call
}

void Process::OnBytes(Stream stream, std::string_view bytes) {
  output_bytes_ += bytes.size();
  owner_.OnOutput(*this, log_.Append(next_seq_++, stream, bytes));
  Perform(life_.OnOutput());
}

void Process::OnEndOfStream() {
  const bool all_ended = std::ranges::all_of(outputs_, [](auto& output) { return output->at_end(); });
  if (all_ended) Perform(life_.OnOutputEnded());
}

void Process::Perform(const Actions& actions) {
  for (const Action action : actions) Perform(action);
}

void Process::Perform(Action action) {
  switch (action) {
    case Action::kPublishStarted:
      return owner_.OnStarted(*this);
    case Action::kPublishStartFailed:
      return PublishStartFailed(start_error_);
    case Action::kPublishStartCancelled:
      return PublishStartFailed({ErrorKind::kInvalidRequest, "the start was cancelled"});
    case Action::kPublishKeeperLost:
      return PublishStartFailed({ErrorKind::kSystem, "the command's keeper was killed while it started"});
    case Action::kDrainOutput:
      for (auto& output : outputs_) output->Drain(kDrainBytes);
      return;
    case Action::kEndOutput:
      for (auto& output : outputs_) output->EndWhenDry();
      return;
    case Action::kStartLastOutputTimer:
      return last_output_timer_.Start(kLastOutputPatience);
    case Action::kStopLastOutputTimer:
      return last_output_timer_.Stop();
    case Action::kPublishExit:
      return PublishExit();
    case Action::kPublishClosed:
      return PublishClosed();
    case Action::kCloseOutput:
      for (auto& output : outputs_) output->Close();
      return;
    case Action::kFreeStreams:
      return FreeStreams();
    case Action::kSignalTerm:
      return watch_->Signal(SIGTERM);
    case Action::kStartGraceTimer:
      return StartGraceTimer();
    case Action::kShortenGrace:
      return ShortenGrace();
    case Action::kStopGraceTimer:
      return grace_timer_.Stop();
    case Action::kKillAll:
      return watch_->KillAll();
    case Action::kAnswerKills:
      return AnswerKills();
    case Action::kPublishGone:
      return owner_.OnGone(*this);
  }
}

void Process::PublishStartFailed(const Error& error) { owner_.OnStartFailed(*this, error); }

void Process::PublishExit() {
  if (!exited_at_) {  // the command was killed, and its keeper with it
    exited_at_ = std::chrono::system_clock::now();
    end_signal_ = SIGKILL;
  }
  owner_.OnExited(*this, next_seq_++);
}

void Process::PublishClosed() {
  if (input_) input_->Abandon();
  closed_seq_ = next_seq_++;
  owner_.OnClosed(*this, *closed_seq_);
}

// Only the retained output is needed from here on.
void Process::FreeStreams() {
  outputs_.clear();
  input_bytes_ = input_bytes();
  input_.reset();
}

void Process::StartGraceTimer() {
  grace_deadline_ = std::chrono::steady_clock::now() + asked_grace_;
  grace_timer_.Start(asked_grace_);
}

// The earliest of several deadlines counts.
void Process::ShortenGrace() {
  if (std::chrono::steady_clock::now() + asked_grace_ < grace_deadline_) StartGraceTimer();
}

void Process::AnswerKills() {
  std::vector<loop::Callback> callbacks = std::move(kill_callbacks_);
  kill_callbacks_.clear();
  for (loop::Callback& done : callbacks) done();
}

}  // namespace holdfast::process
