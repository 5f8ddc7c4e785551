#include "process/life.h"

#include <csignal>

namespace holdfast::process {
namespace {

// The exit code of a command whose keeper was killed: the kernel kills the command with it.
constexpr int kKilledExitCode = 128 + SIGKILL;

}  // namespace

// The outcome of a start that is being killed stays open: OnGone publishes that it was cancelled.
Actions Life::OnExecuted() {
  if (!AwaitsStart() || started_by_ == StartedBy::kReport) return {};
  return BeginRunning();
}

Actions Life::OnExecutionFailed() {
  if (start_ != Start::kStarting) return {};
  start_ = Start::kFailed;
  return {Action::kPublishStartFailed};
}

Actions Life::OnStartReported() {
  if (!AwaitsStart()) return {};
  return BeginRunning();
}

// A wrapper should end by itself after a failure, but it might not, so it is killed.
Actions Life::OnFailureReported() {
  if (!AwaitsStart()) return {};
  start_ = Start::kFailed;
  return {Action::kPublishStartFailed, Action::kKillAll};
}

// The grace timer of a termination keeps running. The one that limits the start is stopped.
Actions Life::BeginRunning() {
  Actions actions;
  if (ending_ == Ending::kStartLimited) actions.Add(StopGraceTimer());
  start_ = Start::kStarted;
  actions.Add(Action::kPublishStarted);
  return actions;
}

// A command that is being killed publishes its exit after the answer to the kill.
Actions Life::OnExited(int exit_code) {
  if (start_ != Start::kStarted || exit_code_) return {};
  exit_code_ = exit_code;
  if (exit_ != Exit::kNone) return {};
  if (ending_ == Ending::kKilling) return WithholdExit();
  exit_ = Exit::kDraining;
  return {Action::kDrainOutput};
}

Actions Life::OnDrained() {
  if (exit_ != Exit::kDraining) return {};
  if (output_ended_ || last_output_ == LastOutput::kPrecedesExit) return PublishExit();
  exit_ = Exit::kAwaitsOutput;
  return {Action::kStartLastOutputTimer};
}

Actions Life::OnLastOutputTimer() {
  if (exit_ != Exit::kAwaitsOutput) return {};
  return PublishExit();
}

Actions Life::OnOutput() {
  if (exit_ != Exit::kAwaitsOutput) return {};
  Actions actions{Action::kStopLastOutputTimer};
  actions.Add(PublishExit());
  return actions;
}

Actions Life::OnOutputEnded() {
  if (output_ended_) return {};
  output_ended_ = true;
  if (exit_ == Exit::kPublished) return PublishClosed();
  return OnOutput();
}

Actions Life::OnStartLimit() {
  if (start_ != Start::kStarting || ending_ != Ending::kNone) return {};
  ending_ = Ending::kStartLimited;
  return {Action::kStartGraceTimer};
}

Actions Life::OnTerminate() {
  if (gone_ || ending_ == Ending::kKilling) return OnKill();
  const Action timer = GraceTimerRuns() ? Action::kShortenGrace : Action::kStartGraceTimer;
  ending_ = Ending::kTerminating;
  return {Action::kSignalTerm, timer};
}

Actions Life::OnKill() {
  if (gone_) return {Action::kAnswerKills};
  Actions actions = StopGraceTimer();
  if (exit_ == Exit::kDraining || exit_ == Exit::kAwaitsOutput) actions.Add(WithholdExit());
  ending_ = Ending::kKilling;
  actions.Add(Action::kKillAll);
  return actions;
}

Actions Life::OnGraceTimer() {
  if (!GraceTimerRuns()) return {};
  ending_ = Ending::kNone;
  return OnKill();
}

// Everything that the command and its descendants wrote is published before the exit. After a kill the streams end with
// that, even if some other process holds them open; otherwise that process may go on writing.
Actions Life::OnAllDead() {
  if (gone_) return {};
  const bool exit_is_due = ExitIsDue();
  Actions actions = StopWaiting();
  if (start_ != Start::kStarted || output_ended_) return actions;
  if (ending_ == Ending::kKilling) {
    actions.Add(Action::kEndOutput);
  } else if (exit_is_due) {
    actions.Add(Action::kDrainOutput);
  }
  return actions;
}

Actions Life::OnGone() {
  if (gone_) return {};
  Actions actions = StopWaiting();
  actions.Add(Action::kAnswerKills);
  if (start_ == Start::kStarting) {
    start_ = Start::kFailed;
    actions.Add(ending_ == Ending::kKilling ? Action::kPublishStartCancelled : Action::kPublishKeeperLost);
  }
  if (ExitIsDue()) actions.Add(PublishExit());
  if (closed_) actions.Add(Action::kFreeStreams);
  gone_ = true;
  actions.Add(Action::kPublishGone);
  return actions;
}

Actions Life::StopWaiting() {
  Actions actions = StopGraceTimer();
  if (ExitIsDue()) actions.Add(WithholdExit());
  return actions;
}

Actions Life::StopGraceTimer() {
  if (!GraceTimerRuns()) return {};
  ending_ = Ending::kNone;
  return {Action::kStopGraceTimer};
}

Actions Life::WithholdExit() {
  const bool timer_runs = exit_ == Exit::kAwaitsOutput;
  exit_ = Exit::kAwaitsEnd;
  if (!timer_runs) return {};
  return {Action::kStopLastOutputTimer};
}

Actions Life::PublishExit() {
  exit_ = Exit::kPublished;
  if (!exit_code_) exit_code_ = kKilledExitCode;
  Actions actions{Action::kPublishExit};
  if (output_ended_) actions.Add(PublishClosed());
  return actions;
}

// If a descendant is still alive, OnGone frees the streams later.
Actions Life::PublishClosed() {
  closed_ = true;
  if (gone_) return {Action::kCloseOutput, Action::kPublishClosed};
  return {Action::kPublishClosed};
}

}  // namespace holdfast::process
